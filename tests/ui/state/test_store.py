"""The journal in the database."""

import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from anyio import to_thread

from ui_mcp.errors import StateStoreError
from ui_mcp.ui.state.segments import Entry
from ui_mcp.ui.state.store import StateStore

if sys.platform != "win32":
    import resource

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
    await store.append([("one", [entry(1, whole=True), entry(2)])], durable=True)
    await store.append([("two", [entry(1, whole=True)])], durable=False)
    await store.append([("one", [entry(3, whole=True), entry(4)])], durable=False)

    assert [found.seq for found in await store.entries("one")] == [3, 4]
    assert [found.seq for found in await store.entries("two")] == [1]
    await store.forget("one")
    assert await store.entries("one") == []


@pytest.mark.covers("STATE-3")
async def test_the_same_entry_twice_is_one(store: StateStore) -> None:
    for _ in range(2):
        await store.append([("one", [entry(1, whole=True)])], durable=False)

    assert [found.seq for found in await store.entries("one")] == [1]


@pytest.mark.covers("STATE-3")
async def test_what_a_killed_server_committed_late_does_not_displace_what_the_next_one_saves(store: StateStore) -> None:
    await store.append([("one", [entry(1, whole=True), entry(2)])], durable=False)
    read_by_the_next = await store.entries("one")
    await store.append([("one", [entry(3), entry(4)])], durable=False)  # late: its server is dead

    own = Entry(3, 3.0, whole=True, body='[["t",1,null,"of","the next"]]')
    await store.append([("one", [own])], durable=False)

    assert [found.seq for found in read_by_the_next] == [1, 2]
    assert await store.entries("one") == [own]


def tamper(file: Path, column: str) -> None:
    with closing(sqlite3.connect(file)) as other, other:
        other.execute(f"UPDATE state_journal SET {column} = ? WHERE seq = 2", ('[["t",9,null]]',))


@pytest.mark.covers("STATE-4")
@pytest.mark.parametrize(("column", "left"), [("body", [1]), ("seal", [1])])
async def test_an_entry_that_this_account_has_not_written_ends_the_journal(
    store: StateStore, file: Path, column: str, left: list[int]
) -> None:
    await store.append([("one", [entry(1, whole=True), entry(2), entry(3)])], durable=True)
    await to_thread.run_sync(tamper, file, column)

    assert [found.seq for found in await store.entries("one")] == left


def step(seq: int, *, whole: bool = False, label: str = "") -> Entry:
    return Entry(seq, float(seq), whole, f'[["s",1,"n",{seq}]]', "agent", "app", label or f"Step {seq}", 0)


@pytest.mark.covers("STATE-6")
async def test_older_steps_are_packed_and_can_still_be_read(store: StateStore) -> None:
    await store.append([("one", [step(1, whole=True), step(2), step(3)])], durable=False)
    await store.append([("one", [step(4, whole=True), step(5)])], durable=False)
    await store.append([("one", [step(6, whole=True)])], durable=False)

    assert [found.seq for found in await store.entries("one")] == [6]
    assert [found.seq for found in await store.moment("one", 2)] == [1, 2]
    assert [found.seq for found in await store.moment("one", 5)] == [4, 5]
    assert [found.label for found in await store.steps("one", 6, 4)] == ["Step 5", "Step 4", "Step 3", "Step 2"]
    assert await store.first("one") == 1
    await store.forget("one")
    assert (await store.first("one"), await store.moment("one", 2)) == (0, [])


@pytest.mark.covers("STATE-4")
async def test_the_oldest_history_goes_when_it_is_too_large(file: Path) -> None:
    store = await to_thread.run_sync(lambda: StateStore(str(file), history=700))
    for seq in range(1, 20):
        await store.append([("one", [step(seq, whole=True)])], durable=False)

    first = await store.first("one")
    assert 1 < first < 19
    assert await store.moment("one", 1) == []
    assert [found.seq for found in await store.moment("one", first)] == [first]
    await to_thread.run_sync(store.close)


@pytest.mark.covers("STATE-4")
async def test_a_packed_history_that_was_written_with_another_key_is_not_read(file: Path) -> None:
    store = await to_thread.run_sync(lambda: StateStore(str(file), "one key"))
    await store.append([("one", [step(1, whole=True)])], durable=False)
    await store.append([("one", [step(2, whole=True)])], durable=False)
    await to_thread.run_sync(store.close)

    other = await to_thread.run_sync(lambda: StateStore(str(file), "another key"))
    assert (await other.moment("one", 1), await other.entries("one")) == ([], [])
    await to_thread.run_sync(other.close)


def torn(file: Path, where: int) -> Path:
    """Return a copy whose last record is cut off in the middle, as by a power cut while it was written."""
    copy = file.with_name(f"torn-{where}.db")
    shutil.copy(file, copy)
    log = file.with_name(f"{file.name}-wal").read_bytes()
    copy.with_name(f"{copy.name}-wal").write_bytes(log[:-where])
    return copy


@pytest.mark.covers("STATE-4")
@pytest.mark.parametrize("where", [1, 100, 4000])
async def test_a_torn_last_record_costs_that_record_only(store: StateStore, file: Path, where: int) -> None:
    await store.append([("one", [step(1, whole=True), step(2)])], durable=True)
    await store.append([("one", [step(3)])], durable=True)

    copy = await to_thread.run_sync(torn, file, where)
    found = await to_thread.run_sync(StateStore, str(copy))

    assert [one.seq for one in await found.entries("one")] == [1, 2]
    await to_thread.run_sync(found.close)


@pytest.mark.covers("STATE-4")
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
async def test_a_full_disk_is_told_and_loses_nothing_that_was_there(store: StateStore) -> None:
    await store.append([("one", [step(1, whole=True)])], durable=False)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(StateStoreError, match=r"full|I/O|too large"):
            await store.append([("one", [step(2)])], durable=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    await store.append([("one", [step(2)])], durable=True)
    assert [one.seq for one in await store.entries("one")] == [1, 2]
