"""The hosts' own tools accept our manifests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import manifests  # noqa: E402

HOSTS = Path(os.environ["UI_MCP_HOSTS"])


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
