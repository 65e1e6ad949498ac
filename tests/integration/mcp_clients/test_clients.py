"""Every client a host might be built on lists, reads and calls, over every transport it has."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.node import NODE, npm

HERE = Path(__file__).parent
TYPESCRIPT = ("@modelcontextprotocol/sdk@^1.32.0", "@modelcontextprotocol/client@^2.4.0")
SCRIPTS = HERE.parents[2] / "scripts"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def environment(name: str) -> str:
    """Return the Python of a client's own virtual environment, made on first use."""
    made = subprocess.run(
        [sys.executable, str(SCRIPTS / "clients.py"), name], capture_output=True, text=True, timeout=800, check=True
    )
    return made.stdout.strip()


def drive(python: str, script: str, *arguments: str) -> dict[str, Any]:
    return printed([python, "-W", "ignore", str(HERE / script), *arguments])


def printed(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def assert_sees_everything(report: dict[str, Any]) -> None:
    assert {"ui_configure", "ui_start", "ui_status", "ui_run", "ui_display", "ui_install"} <= set(report["tools"])
    assert report["state"] in {"configured", "running"}
    assert {"ui://reference", "ui://state", "ui://variables", "ui://lua"} <= set(report["resources"])
    assert report["guide"] == "# "


@pytest.mark.covers("MCP-CONF-5")
@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_current_sdk_in_both_eras(target: list[str], mode: str, version: str) -> None:
    report = drive(sys.executable, "with_sdk.py", mode, *target)

    assert report["version"] == version
    assert_sees_everything(report)


@pytest.mark.covers("MCP-CONF-5")
def test_the_1x_sdk(target: list[str]) -> None:
    report = drive(environment("mcp1"), "with_mcp1.py", *target)

    assert report["version"] == "2025-11-25"
    assert_sees_everything(report)


@pytest.mark.covers("MCP-CONF-5")
def test_fastmcp(target: list[str]) -> None:
    assert_sees_everything(drive(environment("fastmcp"), "with_fastmcp.py", *target))


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the client script in a folder that has the TypeScript SDK."""
    folder = tmp_path_factory.mktemp("typescript")
    (folder / "package.json").write_text('{"private": true}')
    made = npm("install", "--no-audit", "--no-fund", *TYPESCRIPT, cwd=folder)
    assert made.returncode == 0, made.stderr
    return Path(shutil.copy(HERE / "with_typescript.mjs", folder))


@pytest.mark.covers("MCP-CONF-5")
@pytest.mark.parametrize(("generation", "version"), [("1", "unknown"), ("2", "2026-07-28")])
def test_both_generations_of_the_typescript_sdk(
    target: list[str], typescript: Path, generation: str, version: str
) -> None:
    report = printed([str(NODE), str(typescript), generation, *target])

    assert report["version"] == version
    assert_sees_everything(report)
