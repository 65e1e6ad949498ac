"""Commits that wait for the disk are shared by sessions and spaced in time."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import pytest

from ui_mcp.errors import StateStoreError
from ui_mcp.ui.state.database import JournalSettings, StateDatabase
from ui_mcp.ui.state.group_store import Right
from ui_mcp.ui.state.segments import Entry
from ui_mcp.ui.state.store import StateStore

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-1")]
INTERVAL = 0.2


class Commits:
    """Remembers the commits of a store; fails on demand."""

    def __init__(self, store: StateStore) -> None:
        self._append = store.append
        self.sessions: list[list[str]] = []
        self.times: list[float] = []
        self.fails = False

    async def append(
        self,
        journals: Sequence[tuple[str, Sequence[Entry]]],
        *,
        durable: bool,
        rights: Mapping[str, Right] | None = None,
    ) -> list[str]:
        assert durable
        self.sessions.append([session for session, _ in journals])
        self.times.append(time.monotonic())
        if self.fails:
            raise StateStoreError("full")
        return await self._append(journals, durable=durable, rights=rights)


async def commits_of(database: StateDatabase, monkeypatch: pytest.MonkeyPatch) -> Commits:
    store = await database.store()
    commits = Commits(store)
    monkeypatch.setattr(store, "append", commits.append)
    return commits


def entry(seq: int) -> Entry:
    return Entry(seq, 0.0, seq == 1, "[]")


async def test_sessions_that_save_at_the_same_time_share_one_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = StateDatabase(JournalSettings(str(tmp_path / "state.db"), durable=True, interval=INTERVAL))
    commits = await commits_of(database, monkeypatch)
    await database.append("first", [entry(1)])

    async with anyio.create_task_group() as tasks:
        for name in ("a", "b", "c"):
            tasks.start_soon(database.append, name, [entry(1)])

    assert commits.sessions == [["first"], ["a", "b", "c"]]
    assert commits.times[1] - commits.times[0] >= INTERVAL
    assert [len(await (await database.store()).entries(name)) for name in ("first", "a", "c")] == [1, 1, 1]
    await database.close()


async def test_when_a_shared_commit_fails_every_session_learns_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = StateDatabase(JournalSettings(str(tmp_path / "state.db"), durable=True, interval=0.01))
    commits = await commits_of(database, monkeypatch)
    commits.fails = True
    failed: list[str] = []

    async def save(name: str) -> None:
        try:
            await database.append(name, [entry(1)])
        except StateStoreError:
            failed.append(name)

    async with anyio.create_task_group() as tasks:
        for name in ("a", "b"):
            tasks.start_soon(save, name)

    assert sorted(failed) == ["a", "b"]
    commits.fails = False
    await database.append("a", [entry(1)])
    await database.close()
