"""What app code was refused reaches the page and the agent, with the way out."""

import pytest

from ui_mcp.jsontypes import loads
from ui_mcp.testing.browser import open_page
from ui_mcp.ui.sessions.session import Session
from ui_mcp.workspace import Workspace


@pytest.mark.covers("UI-PERM-2")
async def test_a_refused_write_is_told_to_page_and_agent_once(session: Session, workspace: Workspace) -> None:
    async with open_page(session) as browser:
        for _ in range(2):
            message = loads(await session.run_lua("return (select(2, io.open('notes.txt', 'w')))"))
        await browser.until(lambda: browser.page.notices)

    [event] = [found for found in session.events.peek() if found["event"] == "permission_denied"]
    assert (event["app"], event["setting"], event["path"]) == ("ui-mcp", "write", "notes.txt")
    assert event["line"] == 'write = ["{base_dir}/storage", "{project}/notes.txt"]'
    assert [(notice["code"], notice["text"]) for notice in browser.page.notices] == [("permission_denied", message)]
    assert str(workspace.config_file) in message
