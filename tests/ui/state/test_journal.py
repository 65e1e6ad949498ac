"""The journal of one session, with a store that may fail."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from ui_mcp.errors import StateStoreError
from ui_mcp.lua_runtime.interface import LuaFault, Reply
from ui_mcp.ui.state import journal as journal_module
from ui_mcp.ui.state.acts import Act
from ui_mcp.ui.state.database import JournalSettings, StateDatabase
from ui_mcp.ui.state.journal import SavePoint, StateJournal
from ui_mcp.ui.state.store import StateStore

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-4")]


class Session:
    """A worker that returns prepared changes."""

    def __init__(self, place: Path, database: StateDatabase | None = None) -> None:
        self.replies: list[Reply] = []
        self.saved: list[int] = []
        self.stopped: list[str] = []
        self.operations = 0
        self.asked: list[bool] = []
        self.on_read: Callable[[], None] = lambda: None
        self.database = database or StateDatabase(JournalSettings(str(place)))
        self.journal = StateJournal("secret", self.database, self.read, self.on_saved, self.stopped.append)

    def change(self, text: str) -> None:
        self.operations += 1
        self.replies.append(Reply(text))
        self.journal.touch(Act("agent", "Change"))

    async def read(self) -> SavePoint | None:
        self.asked.append(self.journal.whole)
        reply = self.replies.pop(0) if self.replies else Reply("[]")
        self.on_read()
        return self.journal.take(reply, SavePoint(self.operations, {}))

    def on_saved(self, point: SavePoint) -> None:
        self.saved.append(point.operations)

    async def until(self, operations: int) -> None:
        with anyio.fail_after(60):
            while not self.saved or self.saved[-1] < operations:
                await anyio.sleep(0.001)

    async def restored(self) -> list[str]:
        texts: list[str] = []

        async def call(text: str) -> Reply:
            texts.append(text)
            return Reply("[]")

        await self.journal.restore(call)
        return texts

    async def close(self) -> None:
        await self.database.close()


async def test_changes_wait_for_a_store_that_fails_and_are_written_when_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    folder = tmp_path / "folder"
    folder.write_text("a file, where a folder should be")
    session = Session(folder / "state.db")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.journal.run)
        session.change('[["t",1,null,"a",1]]')
        with anyio.fail_after(60):
            while not session.journal.problem:
                await anyio.sleep(0.001)
        assert session.saved == []

        folder.unlink()
        folder.mkdir()
        session.change('[["s",1,"a",2]]')
        await session.until(2)
        tasks.cancel_scope.cancel()

    assert session.journal.problem == ""
    assert await session.restored() == ['[["t",1,null,"a",2]]']
    await session.database.close()


async def test_a_state_that_is_too_large_ends_the_journal_with_a_reason(tmp_path: Path) -> None:
    session = Session(tmp_path / "state.db")
    session.replies = [Reply(fault=LuaFault("memory", "more than 5 tables"))]
    session.journal.touch(Act("agent", "Change"))
    with anyio.fail_after(60):
        await session.journal.run()

    assert session.stopped == ["the state is too large: more than 5 tables"]


async def test_after_many_changes_the_whole_state_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "WHOLE_CHARACTERS", 100)
    session = Session(tmp_path / "state.db")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.journal.run)
        for number in range(1, 8):
            session.change(f'[["t",{number},null,"text","{"x" * 20}"]]')
            await session.until(number)
        tasks.cancel_scope.cancel()

    assert session.asked[:2] == [True, False]
    assert session.asked.count(True) == 2
    await session.database.close()


async def test_a_session_that_ends_leaves_nothing_to_restore(tmp_path: Path) -> None:
    session = Session(tmp_path / "state.db")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.journal.run)
        session.change('[["t",1,null]]')
        await session.until(1)
        await session.journal.close()

    after = Session(tmp_path / "state.db")
    assert await after.restored() == []
    await session.database.close()
    await after.database.close()


async def test_after_a_state_that_could_not_be_read_the_next_one_is_saved_behind_it(tmp_path: Path) -> None:
    file, away = tmp_path / "state.db", tmp_path / "away.db"
    before = Session(file)
    await saved_once(before, '[["t",1,null,"from","before"]]')
    await before.close()
    file.rename(away)
    file.mkdir()
    after = Session(file)
    assert await after.restored() == []
    file.rmdir()
    away.rename(file)

    await saved_once(after, '[["t",1,null,"from","after"]]')
    steps = [step.seq for step in await after.journal.steps(10, 10)]
    await after.close()

    last = Session(file)
    assert await last.restored() == ['[["t",1,null,"from","after"]]']
    assert steps == [2, 1]
    await last.close()


class Busy(StateDatabase):
    """Refuses the first requests."""

    def __init__(self, place: Path, refusals: int) -> None:
        super().__init__(JournalSettings(str(place)))
        self.refusals = refusals

    async def store(self) -> StateStore:
        if self.refusals:
            self.refusals -= 1
            raise StateStoreError("The state database cannot be reached; try again", failure="busy")
        return await super().store()


async def test_a_restoration_waits_for_a_store_that_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "READ_PAUSE", 0.0)
    before = Session(tmp_path / "state.db")
    await saved_once(before, '[["t",1,null,"a",1]]')
    await before.close()

    after = Session(tmp_path / "state.db", Busy(tmp_path / "state.db", refusals=2))

    assert await after.restored() == ['[["t",1,null,"a",1]]']
    await after.close()


async def test_changes_that_were_dropped_because_too_many_waited_are_not_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "HELD_CHARACTERS", 10)
    session = Session(tmp_path / "state.db")
    await saved_once(session, "[[]]")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.journal.run)
        session.replies = [Reply('[["t",2,null,"longer","than held"]]'), Reply('[["t",2,null,"whole","state"]]')]
        session.operations += 1
        session.journal.touch(Act("agent", "Change"))
        await session.until(2)
        tasks.cancel_scope.cancel()

    assert session.asked == [True, False, True]
    assert await session.restored() == ['[["t",2,null,"whole","state"]]']
    await session.close()


async def test_a_journal_that_was_left_confirms_nothing_more(tmp_path: Path) -> None:
    session = Session(tmp_path / "state.db")
    await saved_once(session, '[["t",1,null]]')
    session.on_read = session.journal.leave
    session.change('[["s",1,"a",1]]')
    with anyio.fail_after(60):
        await session.journal.run()

    assert session.saved == [1]
    await session.close()


async def saved_once(session: Session, text: str) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.journal.run)
        session.change(text)
        await session.until(session.operations)
        tasks.cancel_scope.cancel()
