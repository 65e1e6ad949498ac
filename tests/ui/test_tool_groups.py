"""Which tools a client is shown, and that it can call the others."""

import pytest

from mcp_server.wire import Wire, wired
from ui.conftest import Served
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.mcp import INSTRUCTIONS, ui_definition
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.tool_groups import CORE, GROUPS, gets_core
from ui_mcp.ui.toolset import recorded_tools
from ui_mcp.workspace import Workspace

ADD = {"name": "ui_tools", "arguments": {"group": "apps"}}


async def names(wire: Wire) -> list[str]:
    return sorted(tool["name"] for tool in (await wire.ask("tools/list"))["result"]["tools"])


@pytest.mark.covers("MCP-TOOL-7")
def test_every_tool_is_in_the_core_or_in_one_group() -> None:
    names = [tool.name for tool in recorded_tools() or ()]
    grouped = [name for group in GROUPS.values() for name in group.tools]

    assert sorted([*grouped, *CORE]) == sorted(names)


@pytest.mark.covers("MCP-TOOL-7")
@pytest.mark.parametrize(
    ("setting", "client", "core"),
    [
        ("auto", "Visual Studio Code - Insiders", True),
        ("auto", "opencode", True),
        ("auto", "gemini-cli-mcp-client", True),
        ("auto", "claude-code", False),  # searches tools, and loads them on demand
        ("auto", "unknown", False),
        ("core", "unknown", True),
        ("all", "opencode", False),
    ],
)
def test_only_clients_that_follow_changes_get_the_core(setting: str, client: str, *, core: bool) -> None:
    assert gets_core(setting, client) is core  # type: ignore[arg-type]


@pytest.mark.covers("MCP-TOOL-7")
async def test_a_group_is_added_to_the_list_and_its_tools_work_before(served: Served, workspace: Workspace) -> None:
    workspace.config.mkdir(parents=True)
    workspace.config_file.write_text('[tools]\nlist = "core"\n')
    announcements = Announcements()
    async with UiServer(served, announcements=announcements) as host, wired(ui_definition(host, announcements)) as wire:
        await host.begin(str(workspace.base))
        hello = await wire.shake_hands()
        before = await names(wire)
        called = await wire.call("ui_theme", action="list")
        await wire.send({"jsonrpc": "2.0", "id": "add", "method": "tools/call", "params": ADD})
        answers = [await wire.receive(), await wire.receive()]
        after = await names(wire)

    assert hello["result"]["capabilities"]["tools"] == {"listChanged": True}
    assert before == sorted(CORE - {"ui_sync"})
    assert called["result"]["isError"] is False
    assert {answer.get("method", answer.get("id")) for answer in answers} == {"notifications/tools/list_changed", "add"}
    assert after == sorted({*before, *GROUPS["apps"].tools})


@pytest.mark.covers("MCP-TOOL-7")
def test_the_list_is_short() -> None:
    """In characters, since the tokenizer is not at hand: benchmarks/mcp_tokens.py counts tokens."""
    texts = {
        tool.name: len(f"{tool.name}{tool.description}{tool.input_schema}")
        for tool in recorded_tools() or ()
        if not tool.app_only
    }
    core = sum(size for name, size in texts.items() if name in CORE)

    assert core + len(INSTRUCTIONS) <= 14_150  # about 3,480 tokens; the bar is 3,500
    assert sum(texts.values()) + len(INSTRUCTIONS) <= 23_760  # about 5,990; the bar is 6,000
