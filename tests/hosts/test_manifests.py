"""The hosts' own tools accept our manifests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.drivers import DRIVERS, Place
from hosts.model_server import named, scripted_model
from hosts.pinned import node_folder
from hosts.running import converse, environment

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import manifests  # noqa: E402

HOSTS = Path(os.environ["UI_MCP_HOSTS"])


@pytest.mark.covers("UI-REL-5")
def test_codex_installs_the_plugin_and_starts_its_server_in_the_project(tmp_path: Path) -> None:
    manifests.write(tmp_path / "out")
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    driver = next(one for one in DRIVERS if one.name == "codex")

    with scripted_model([("ui_status", {})]) as (address, script):
        place = Place(tmp_path / "home", tmp_path / "project", address)
        variables = environment(driver, place, HOSTS, [node_folder()])
        for words in (["marketplace", "add", str(tmp_path / "out" / "codex")], ["add", "ui-mcp@ui-mcp"]):
            subprocess.run(["codex", "plugin", *words], env=variables, cwd=place.project, check=True, timeout=240)
        converse(driver, place, variables)

    assert [named(one.tool, "ui_status") for one in script.outcomes] == [True]
    assert (place.project / ".claude" / "ui" / "apps").is_dir()


@pytest.mark.covers("UI-REL-5")
@pytest.mark.parametrize(
    ("host", "command"),
    [
        ("claude-code", ["claude", "plugin", "validate", "claude-code"]),
        ("gemini", ["gemini", "extensions", "validate", "gemini"]),
        ("mcpb", ["mcpb", "validate", "manifest.json"]),
    ],
)
def test_the_hosts_own_tool_accepts_the_manifest(host: str, command: list[str], tmp_path: Path) -> None:
    manifests.write(tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifests.bundle("ui-mcp-linux-amd64")))
    tool = HOSTS / host / "node_modules" / ".bin" / command[0]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    done = subprocess.run(
        [tool, *command[1:]], cwd=tmp_path / "out", env=environment, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
