"""The journal of one session, with a store that may fail."""

from pathlib import Path

import anyio
import pytest

from ui_mcp.lua_runtime.interface import LuaFault, Reply
from ui_mcp.ui.state import journal as journal_module
from ui_mcp.ui.state.acts import Act
from ui_mcp.ui.state.database import JournalSettings, StateDatabase
from ui_mcp.ui.state.journal import SavePoint, StateJournal

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-4")]


class Session:
    """A worker that returns prepared changes."""

    def __init__(self, place: Path) -> None:
        self.replies: list[Reply] = []
        self.saved: list[int] = []
        self.stopped: list[str] = []
        self.operations = 0
        self.asked: list[bool] = []
        self.database = StateDatabase(JournalSettings(str(place)))
        self.journal = StateJournal("secret", self.database, self.read, self.on_saved, self.stopped.append)

    def change(self, text: str) -> None:
        self.operations += 1
        self.replies.append(Reply(text))
        self.journal.touch(Act("agent", "Change"))

    async def read(self) -> SavePoint | None:
        self.asked.append(self.journal.whole)
        reply = self.replies.pop(0) if self.replies else Reply("[]")
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
