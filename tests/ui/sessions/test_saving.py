"""What is confirmed as saved is saved, also if the caller gives up waiting or a process dies meanwhile."""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from anyio import CancelScope, fail_after
from anyio.lowlevel import checkpoint

from ui.sessions.test_supervisor import killed, pid, saved
from ui_mcp.lua_runtime.interface import Reply
from ui_mcp.testing.browser import open_page
from ui_mcp.testing.project import open_sessions, settings
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.state.journal import StateJournal
from ui_mcp.wire import NOTICE_RESTARTED
from ui_mcp.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.covers("STATE-1")]


@pytest.fixture
async def session(workspace: Workspace) -> AsyncIterator[Session]:
    async with open_sessions(workspace, settings(host="process")) as sessions:
        yield sessions.get("1")


async def test_who_gives_up_while_changes_are_read_loses_none_of_them(session: Session) -> None:
    await session.run_lua("kept = {n = 1}")
    await saved(session)

    await session.run_lua("kept.n = 2")
    with CancelScope() as scope:
        scope.cancel()
        await session.history.steps()
    await saved(session)
    await killed(session)

    assert await session.run_lua("return kept.n") == "2"


async def test_pages_reconnect_also_when_the_next_worker_dies_while_it_is_restored(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.run_lua("kept = {n = 1}")
    await saved(session)
    restore = StateJournal.restore
    deaths: list[int] = []

    async def dying(journal: StateJournal, call: Callable[[str], Awaitable[Reply]]) -> object:
        if not deaths:
            deaths.append(pid(session))
            os.kill(deaths[0], signal.SIGKILL)
        return await restore(journal, call)

    monkeypatch.setattr(StateJournal, "restore", dying)
    async with open_page(session) as browser:
        await killed(session)
        with fail_after(60):
            while len(deaths) == 0 or pid(session) == deaths[0]:
                await checkpoint()
        await browser.until_closed()

    assert browser.page.notices[-1]["code"] == NOTICE_RESTARTED
    assert await session.run_lua("return kept.n") == "1"
