"""The recorded list of tools."""

from pathlib import Path

import pytest

from ui_mcp.app.ui_server import open_host
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui import toolset
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.toolset import all_tools


async def test_the_record_says_what_the_modules_say() -> None:
    async with open_host({}, ListenPorts(), Announcements()) as host:
        listed = await all_tools(host).tools(Call())

    assert toolset.recorded_tools() == listed, "run scripts/tool_list.py"


@pytest.mark.covers("MCP-TOOL-7")
def test_hosts_with_a_tool_search_load_only_the_tool_to_begin_with() -> None:
    listed = toolset.recorded_tools() or ()

    assert [tool.name for tool in listed if (tool.meta or {}).get("anthropic/alwaysLoad")] == ["ui_status"]


@pytest.mark.parametrize("files", [[], ["ui/tools/another.py"]])
def test_a_record_of_other_files_is_not_used(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "tool_list.json"
    other.write_text(dumps({**loads(toolset.RECORD.read_bytes()), "files": files}))
    monkeypatch.setattr(toolset, "RECORD", other)

    assert toolset.recorded_tools() is None


@pytest.mark.parametrize("text", ["", "{}", '{"files": []}', "[]"])
def test_a_damaged_record_is_not_used(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "tool_list.json"
    other.write_text(text)
    monkeypatch.setattr(toolset, "RECORD", other)

    assert toolset.recorded_tools() is None
