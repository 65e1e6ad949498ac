"""Sessions of a killed server in the next one."""

import shutil
from pathlib import Path

import pytest
from anyio import fail_after, to_thread
from anyio.lowlevel import checkpoint

from ui_mcp.testing.project import open_sessions
from ui_mcp.ui.sessions.record import SessionRecords
from ui_mcp.ui.sessions.session import Session
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.covers("STATE-3")


async def saved(session: Session) -> None:
    with fail_after(60):
        while session.unsaved:
            await checkpoint()


def keep(folder: Path, copy: Path) -> None:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)


async def test_every_session_goes_on_with_its_number_visitors_events_and_state(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.state_dir.mkdir(parents=True, exist_ok=True)
    copy = tmp_path / "as the killed server left it"
    async with open_sessions(workspace, records=SessionRecords(workspace.state_dir)) as sessions:
        second, third = await sessions.create(), await sessions.create()
        visitor = sessions.visitors.admit(None, third.secret)
        await sessions.destroy(second)
        await third.run_lua("kept = {n = 3}; mcp.pushState({event = 'queued'})")
        await saved(third)
        await to_thread.run_sync(keep, workspace.state_dir, copy)
    await to_thread.run_sync(keep, copy, workspace.state_dir)

    async with open_sessions(workspace, records=SessionRecords(workspace.state_dir, resumes=True)) as sessions:
        found = sessions.get(third.secret)
        assert (found.vended, len(sessions)) == ("3", 2)
        assert await found.run_lua("return kept.n") == "3"
        assert [event["event"] for event in found.events.peek()] == ["queued", "session_restarted"]
        assert sessions.visitors.may_open(visitor, third.secret)
        assert (await sessions.create()).vended == "4"


async def test_a_server_that_does_not_continue_forgets_them(workspace: Workspace, tmp_path: Path) -> None:
    workspace.state_dir.mkdir(parents=True, exist_ok=True)
    copy = tmp_path / "left"
    async with open_sessions(workspace, records=SessionRecords(workspace.state_dir)) as sessions:
        await sessions.create()
        await to_thread.run_sync(keep, workspace.state_dir, copy)
    await to_thread.run_sync(keep, copy, workspace.state_dir)

    async with open_sessions(workspace, records=SessionRecords(workspace.state_dir)) as sessions:
        assert len(sessions) == 1
        assert not (workspace.state_dir / "session-2.jsonl").exists()
