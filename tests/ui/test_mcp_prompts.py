"""Prompts of the UI server."""

import pytest

from mcp_server.wire import wired
from ui.conftest import Served
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.mcp import ui_definition
from ui_mcp.ui.server import UiServer
from ui_mcp.workspace import Workspace


@pytest.mark.covers("MCP-PROMPT-1")
async def test_prompts_give_the_skill_with_the_real_directory_and_the_wish(
    served: Served, workspace: Workspace
) -> None:
    base = workspace.project / ".ui"
    (base / "apps" / "tasks").mkdir(parents=True)
    (base / "apps" / "tasks" / "app.lua").touch()
    announcements = Announcements()
    async with UiServer(served, announcements=announcements) as host, wired(ui_definition(host, announcements)) as wire:
        await host.begin(str(base))
        hello = await wire.shake_hands()
        listed = await wire.ask("prompts/list")
        got = await wire.ask("prompts/get", {"name": "build", "arguments": {"app": "tasks", "wish": "a due date"}})
        unknown = await wire.ask("prompts/get", {"name": "nope"})
        reference = {"type": "ref/prompt", "name": "build"}
        completed = await wire.ask(
            "completion/complete", {"ref": reference, "argument": {"name": "app", "value": "ta"}}
        )

    assert "prompts" in hello["result"]["capabilities"]
    assert [prompt["name"] for prompt in listed["result"]["prompts"]] == ["ui", "build", "test", "theme"]
    [message] = got["result"]["messages"]
    text = message["content"]["text"]
    assert text.endswith("Build or change the app tasks: a due date")
    assert "`.ui/apps/NAME/`" in text
    assert ".claude/ui" not in text
    assert "there are: ui, build, test, theme" in unknown["error"]["message"]
    assert completed["result"]["completion"]["values"] == ["tasks"]
