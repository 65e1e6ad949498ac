"""The journal in the database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from anyio import to_thread

from ui_mcp.ui.state.store import Entry, StateStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def store(file: Path) -> Iterator[StateStore]:
    opened = StateStore(str(file))
    yield opened
    opened.close()


def entry(seq: int, *, whole: bool = False) -> Entry:
    return Entry(seq, float(seq), whole, f'[["t",{seq},null]]')


@pytest.mark.covers("STATE-3")
async def test_a_journal_is_read_from_its_last_whole_state_on(store: StateStore) -> None:
    await store.append("one", [entry(1, whole=True), entry(2)], durable=True)
    await store.append("two", [entry(1, whole=True)], durable=False)
    await store.append("one", [entry(3, whole=True), entry(4)], durable=False)

    assert [found.seq for found in await store.entries("one")] == [3, 4]
    assert [found.seq for found in await store.entries("two")] == [1]
    await store.forget("one")
    assert await store.entries("one") == []


@pytest.mark.covers("STATE-3")
async def test_the_same_entry_twice_is_one(store: StateStore) -> None:
    for _ in range(2):
        await store.append("one", [entry(1, whole=True)], durable=False)

    assert [found.seq for found in await store.entries("one")] == [1]


def tamper(file: Path, column: str) -> None:
    with closing(sqlite3.connect(file)) as other, other:
        other.execute(f"UPDATE state_journal SET {column} = ? WHERE seq = 2", ('[["t",9,null]]',))


@pytest.mark.covers("STATE-4")
@pytest.mark.parametrize(("column", "left"), [("body", [1]), ("seal", [1])])
async def test_an_entry_that_this_account_has_not_written_ends_the_journal(
    store: StateStore, file: Path, column: str, left: list[int]
) -> None:
    await store.append("one", [entry(1, whole=True), entry(2), entry(3)], durable=True)
    await to_thread.run_sync(tamper, file, column)

    assert [found.seq for found in await store.entries("one")] == left
