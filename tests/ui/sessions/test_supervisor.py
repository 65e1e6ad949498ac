"""What a child process that dies means for its session; the MCP process must not notice."""

import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from anyio import create_task_group, fail_after, to_thread
from anyio.lowlevel import checkpoint

from ui_mcp.config import SessionSettings
from ui_mcp.errors import SessionGoneError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lua_runtime.worker_process import ProcessWorker
from ui_mcp.testing.browser import open_page
from ui_mcp.testing.project import open_sessions, settings
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.wire import RESTARTED, SESSION_ENDED, Op
from ui_mcp.workspace import STATE_FILE, Workspace

APP = 'Note = session:prototype("Note", { title = "draft" })\nif not session.reloading then note = Note:new() end'
VIEW = '<template><b ui-value="title"></b></template>'

pytestmark = pytest.mark.slow


@pytest.fixture
async def sessions(workspace: Workspace) -> AsyncIterator[SessionRegistry]:
    (workspace.apps / "note" / "viewdefs").mkdir(parents=True)
    (workspace.apps / "note" / "app.lua").write_text(APP)
    (workspace.apps / "note" / "viewdefs" / "Note.DEFAULT.html").write_text(VIEW)
    async with open_sessions(workspace, settings(host="process")) as sessions:
        yield sessions


@pytest.fixture
async def tight_sessions(workspace: Workspace) -> AsyncIterator[SessionRegistry]:
    """Sessions whose code may take little of everything, yet more than a busy machine takes for nothing."""
    config = settings(host="process", max_seconds=2, max_memory_mb=64)
    async with open_sessions(workspace, config) as sessions:
        yield sessions


def pid(session: Session) -> int:
    worker = session._supervisor.worker()
    assert isinstance(worker, ProcessWorker)
    return worker.pid


async def killed(session: Session) -> None:
    before = pid(session)
    os.kill(before, signal.SIGKILL)
    with fail_after(60):
        while session._supervisor.end_reason is None and (
            session._supervisor.crash_reason is not None or pid(session) == before
        ):
            await checkpoint()


def told(session: Session) -> list[JsonObject]:
    return session.events.peek()


@pytest.mark.covers("UI-ROB-1")
async def test_a_killed_worker_is_replaced_with_the_same_ids_and_events(sessions: SessionRegistry) -> None:
    session = sessions.get("1")
    secret = session.secret
    await session.run_lua("mcp.pushState({n = 1})")

    await killed(session)

    assert sessions.get(secret) is session
    await session.run_lua("return 1")
    [first, second] = told(session)
    assert first == {"n": 1}
    assert (second["app"], second["event"], second["restarted"]) == ("ui-mcp", "session_restarted", True)


async def saved(session: Session) -> None:
    with fail_after(60):
        while session.unsaved:
            await checkpoint()


@pytest.mark.covers("STATE-1")
async def test_what_was_saved_is_there_after_a_crash_and_the_page_shows_it(sessions: SessionRegistry) -> None:
    session = sessions.get("1")
    await session.display("note")
    async with open_page(session) as browser:
        await session.run_lua("note.title = 'changed' note.me = note")
        await saved(session)
        await killed(session)
        await browser.until_closed()
        assert (browser.page.notices[-1]["code"], browser.page.notices[-1]["level"]) == ("session_restarted", "info")

    async with open_page(session) as browser:
        assert browser.text == "changed"
    assert await session.run_lua("return note.me == note and mcp.value == note") == "true"
    assert [event["restored"] for event in told(session)] == [True]


@pytest.mark.covers("STATE-1")
async def test_a_page_learns_how_many_of_its_frames_are_saved(sessions: SessionRegistry) -> None:
    session = sessions.get("1")
    await session.display("note")
    async with open_page(session) as browser:
        await browser.until(lambda: browser.page.saved)


@pytest.mark.covers("STATE-1")
async def test_a_session_that_ends_in_order_leaves_nothing_in_the_journal(
    sessions: SessionRegistry, workspace: Workspace
) -> None:
    session = await sessions.create()
    await session.run_lua("x = 1")
    await saved(session)

    await sessions.destroy(session)

    assert await to_thread.run_sync(journal_rows, workspace.state_dir / STATE_FILE) == 0


def journal_rows(file: Path) -> int:
    with closing(sqlite3.connect(file)) as store:
        return int(store.execute("SELECT count(*) FROM state_journal").fetchone()[0])


@pytest.fixture
async def forgetful_sessions(workspace: Workspace) -> AsyncIterator[SessionRegistry]:
    (workspace.apps / "note" / "viewdefs").mkdir(parents=True)
    (workspace.apps / "note" / "app.lua").write_text(APP)
    (workspace.apps / "note" / "viewdefs" / "Note.DEFAULT.html").write_text(VIEW)
    config = replace(settings(host="process"), session=SessionSettings(journal="off"))
    async with open_sessions(workspace, config) as sessions:
        yield sessions


async def test_without_a_journal_the_page_is_told_and_finds_its_app_again(forgetful_sessions: SessionRegistry) -> None:
    session = forgetful_sessions.get("1")
    await session.display("note")
    async with open_page(session) as browser:
        assert browser.text == "draft"
        await session.run_lua("note.title = 'changed'")
        await killed(session)
        await browser.until_closed()
        connection_over = browser.page.notices[-1]
    assert (connection_over["code"], connection_over["level"]) == ("session_restarted", "warning")

    async with open_page(session) as browser:
        assert browser.text == "draft"


async def test_pages_are_closed_with_a_code_that_says_restarted(sessions: SessionRegistry) -> None:
    session = sessions.get("1")
    async with session.attach() as connection:
        await killed(session)
        while await connection.take():
            pass

        assert connection.closed is not None
        assert connection.closed.code == RESTARTED


async def test_the_third_crash_within_a_minute_leaves_the_session_down(sessions: SessionRegistry) -> None:
    session = sessions.get("1")
    for _ in range(2):
        await killed(session)
    async with session.attach() as connection:
        await killed(session)
        while await connection.take():
            pass
        assert connection.closed is not None
        assert connection.closed.code == SESSION_ENDED

    with pytest.raises(SessionGoneError, match="crashed three times"):
        await session.run_lua("return 1")
    assert [event["restarted"] for event in told(session)] == [True, True, False]


async def test_another_session_does_not_notice(sessions: SessionRegistry) -> None:
    session, other = sessions.get("1"), await sessions.create()
    await other.run_lua("kept = 7")

    await killed(session)

    assert await other.run_lua("return kept") == "7"


@pytest.mark.covers("UI-EXEC-3", "UI-BUDG-1", "UI-BUDG-4")
@pytest.mark.parametrize(
    "code",
    [
        "while true do end",
        "local s = string.rep('a', 30) .. 'b' return s:rep(200):find(('a-'):rep(40) .. 'c')",
        "local t = {} while true do t[#t + 1] = string.rep('x', 1000000) .. #t end",
        "return string.rep('x', 2 ^ 31)",
        "local s = 'x' while true do s = s .. s end",
        "local function f() return f() + 1 end return f()",
        "return coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()",
    ],
    ids=["loop", "pattern", "tables", "rep", "doubling", "stack", "coroutine"],
)
async def test_runaway_code_ends_at_most_its_worker(tight_sessions: SessionRegistry, code: str) -> None:
    session = tight_sessions.get("1")
    other = await tight_sessions.create()
    with pytest.raises(UiMcpError), fail_after(60):
        await session.run_lua(code)

    assert await other.run_lua("return 1") == "1"
    with fail_after(60):
        assert await session.run_lua("return 1") == "1"


async def test_no_process_is_left_behind(workspace: Workspace) -> None:
    async with open_sessions(workspace, settings(host="process")) as sessions:
        await sessions.create()
        pids = [pid(sessions.get(name)) for name in ("1", "2")]
    for number in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


async def test_a_call_that_waits_while_the_worker_dies_is_answered_by_the_next(sessions: SessionRegistry) -> None:
    session = sessions.get("1")
    os.kill(pid(session), signal.SIGKILL)
    results = []
    for _ in range(3):
        try:
            results.append(await session.run_lua("return 1"))
        except SessionGoneError:
            results.append("gone")

    assert results[-1] == "1"
    assert (await session.call(Op.REFRESH)).fault is None


@pytest.mark.covers("UI-WAIT-6")
async def test_events_of_eight_producers_survive_crashes_once_each(sessions: SessionRegistry) -> None:
    session = sessions.get("1")
    accepted: list[tuple[int, int]] = []
    crash_after = {100, 250}

    async def produce(producer: int) -> None:
        for number in range(50):
            try:
                await session.run_lua(f"mcp.pushState({{p = {producer}, n = {number}}})")
            except SessionGoneError:
                continue
            accepted.append((producer, number))
            if len(accepted) in crash_after:
                os.kill(pid(session), signal.SIGKILL)

    with fail_after(60):
        async with create_task_group() as group:
            for producer in range(8):
                group.start_soon(produce, producer)

    queued = [(event["p"], event["n"]) for event in told(session) if "p" in event]
    assert len(set(queued)) == len(queued)
    assert set(accepted) <= set(queued)
    assert len(accepted) >= 350
    assert [event["restarted"] for event in told(session) if "p" not in event] == [True, True]


@pytest.mark.covers("UI-SES-6")
async def test_ending_a_session_does_not_wait_for_its_endless_loop(workspace: Workspace) -> None:
    async with open_sessions(workspace, settings(host="process", max_seconds=600)) as sessions:
        session = sessions.get("1")
        async with create_task_group() as group:
            group.start_soon(session.call_and_log, Op.RUN, "while true do end")
            while not session._lock.locked():
                await checkpoint()
            with fail_after(60):
                await sessions.destroy(session)
