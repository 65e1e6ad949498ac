"""The MCP Inspector's command line against the real program, in both eras."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance.node import npx
from integration.mcp_clients.conftest import PROGRAM

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def inspect(era: str, *arguments: str, cwd: Path, target: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return npx(INSPECTOR, "--cli", *(target or PROGRAM), "--protocol-era", era, *arguments, timeout=500, cwd=cwd)


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.covers("MCP-CONF-4")
@ERAS
def test_it_lists_reads_and_calls_over_stdio(era: str, tmp_path: Path) -> None:
    tools = answer(inspect(era, "--method", "tools/list", cwd=tmp_path))["tools"]
    status = answer(inspect(era, "--method", "tools/call", "--tool-name", "ui_status", cwd=tmp_path))
    resources = answer(inspect(era, "--method", "resources/list", cwd=tmp_path))["resources"]
    guide = answer(inspect(era, "--method", "resources/read", "--uri", "ui://reference", cwd=tmp_path))
    templates = answer(inspect(era, "--method", "resources/templates/list", cwd=tmp_path))["resourceTemplates"]

    assert "ui_start" in [tool["name"] for tool in tools]
    assert json.loads(status["content"][0]["text"])["state"] == "configured"
    assert "ui://reference" in [resource["uri"] for resource in resources]
    assert guide["contents"][0]["mimeType"] == "text/markdown"
    assert "ui://{path}" in [template["uriTemplate"] for template in templates]


@pytest.mark.covers("MCP-CONF-4")
@ERAS
def test_a_failing_tool_is_told_by_the_exit_code(era: str, tmp_path: Path) -> None:
    failed = inspect(
        era, "--method", "tools/call", "--tool-name", "ui_run", "--tool-arg", "code=return 1", cwd=tmp_path
    )

    assert failed.returncode == 5
    assert json.loads(failed.stdout)["content"][0]["text"].startswith("Server not started")


@pytest.mark.covers("MCP-CONF-4")
@pytest.mark.parametrize("tool", ["ui_display", "ui_start"])
def test_it_finds_the_page_that_shows_an_app_inside_the_host(tool: str, tmp_path: Path) -> None:
    probe = ("--method", "tools/call", "--tool-name", tool, "--app-info")
    found = answer(inspect("modern", *probe, cwd=tmp_path))

    assert (found["hasApp"], found["resourceUri"]) == (True, "ui://app/main.html")


@pytest.mark.covers("MCP-CONF-4", "MCP-TOOL-3")
def test_the_schemas_of_all_tools_are_portable(tmp_path: Path) -> None:
    done = inspect("modern", "--method", "tools/list", "--strict", cwd=tmp_path)

    assert done.returncode == 0, done.stderr


@pytest.mark.covers("MCP-CONF-4")
@ERAS
@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_it_calls_over_http_too(era: str, path: str, mcp_base: str, tmp_path: Path) -> None:
    done = inspect(
        era, "--method", "tools/call", "--tool-name", "ui_status", cwd=tmp_path, target=(f"{mcp_base}{path}",)
    )

    assert json.loads(answer(done)["content"][0]["text"])["state"] == "running"
