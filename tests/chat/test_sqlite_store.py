"""The file of the embedded store: private, migrated with a copy, never mistaken."""

import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from ui_mcp.chat import sqlite_store
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Draft
from ui_mcp.chat.service import open_store
from ui_mcp.chat.sqlite_store import SCHEMA, SqliteStore
from ui_mcp.chat.store import Post, Query
from ui_mcp.errors import ChatError, ConfigError
from ui_mcp.storage import sqlite
from ui_mcp.storage.database import close_database
from ui_mcp.storage.sqlite import SqliteFile

HELLO = Post(DEFAULT_CONVERSATION, "user", "human", (Draft("hello"),))


@pytest.mark.covers("R-ST-9")
async def test_the_store_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "storage" / "runtime.db")
    await store.append(HELLO)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "storage").iterdir()}
    await store.close()

    assert modes == {"runtime.db": 0o600, "runtime.db-wal": 0o600, "runtime.db-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "storage").stat().st_mode) == 0o700


@pytest.mark.covers("R-ST-1")
async def test_messages_wait_for_the_disk_and_receipts_do_not(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "runtime.db")
    writer = store._file._writer._connection

    def flush() -> int:
        level: int = writer.execute("PRAGMA synchronous").fetchone()[0]
        return level

    await store.append(HELLO)
    message = flush()
    await store.reached(DEFAULT_CONVERSATION, "read", 1)
    receipt = flush()
    mode = writer.execute("PRAGMA journal_mode").fetchone()
    await store.close()

    full, normal = 2, 1
    assert (message, receipt, mode) == (full, normal, ("wal",))
    assert [path.name for path in tmp_path.iterdir()] == ["runtime.db"]


@pytest.mark.covers("R-ST-3")
async def test_a_newer_file_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "runtime.db"
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version=99")

    with pytest.raises(ChatError, match="newer ui-mcp"):
        await SqliteStore.open(path)

    assert sqlite3.connect(path).execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


@pytest.mark.covers("R-ST-3")
async def test_a_migration_keeps_a_copy_and_every_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runtime.db"
    store = await SqliteStore.open(path)
    await store.append(HELLO)
    await store.close()
    newer = replace(SCHEMA, migrations=(*SCHEMA.migrations, "ALTER TABLE audit ADD COLUMN more TEXT;"))
    monkeypatch.setattr(sqlite_store, "SCHEMA", newer)

    store = await SqliteStore.open(path)
    kept = await store.since(Query(DEFAULT_CONVERSATION))
    await store.close()

    assert [message.content for message in kept.messages] == ["hello"]
    copy = sqlite3.connect(tmp_path / "runtime.db.schema-1.bak")
    assert copy.execute("SELECT content FROM messages").fetchall() == [("hello",)]
    assert copy.execute("PRAGMA user_version").fetchone() == (1,)


@pytest.mark.covers("R-IN-2")
async def test_the_file_itself_refuses_to_change_a_message(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "runtime.db")
    await store.append(HELLO)
    await store.close()
    file = sqlite3.connect(tmp_path / "runtime.db")

    for statement in ("UPDATE messages SET content = 'x'", "DELETE FROM messages"):
        with pytest.raises(sqlite3.IntegrityError, match="final"):
            file.execute(statement)


@pytest.mark.covers("R-ST-8")
async def test_a_backup_is_made_while_others_write(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path}/a.db") as store:
        for _ in range(50):
            await store.append(HELLO)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.backup, str(tmp_path / "copy.db"))
            for _ in range(20):
                await store.append(HELLO)

    async with open_store(f"sqlite:///{tmp_path}/copy.db") as copy:
        assert 50 <= len((await copy.since(Query(DEFAULT_CONVERSATION))).messages) <= 70


@pytest.mark.covers("R-ST-2")
def test_a_network_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MOUNTS", tmp_path / "mounts")
    (tmp_path / "mounts").write_text(f"server:/x {tmp_path} nfs4 rw 0 0\n/dev/a / ext4 rw 0 0\n")

    with pytest.raises(ChatError, match="network disk"):
        sqlite.prepare(tmp_path / "storage" / "runtime.db", SCHEMA)


async def test_an_unknown_store_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match=r"storage\.url"):
        async with open_store("redis://localhost"):
            pass


async def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "runtime.db").write_bytes(b"not a database, but long enough to look at" * 100)

    with pytest.raises(ChatError, match="Cannot open the chat store"):
        await SqliteStore.open(tmp_path / "runtime.db")


async def test_a_cancelled_post_is_not_written_later(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "runtime.db")
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(store.append, HELLO)
        tasks.cancel_scope.cancel()
    before = len((await store.since(Query(DEFAULT_CONVERSATION))).messages)
    await store.append(HELLO)

    assert len((await store.since(Query(DEFAULT_CONVERSATION))).messages) == before + 1
    await store.close()


async def test_work_that_fails_fails_alone(tmp_path: Path) -> None:
    file, values = await to_thread.run_sync(SqliteFile, tmp_path / "runtime.db", SCHEMA), list[int]()

    async def write(number: int) -> None:
        sql, row = "INSERT INTO audit VALUES (?, 'somebody', 'asked', '')", (number,)
        values.append(await file.durable(lambda connection: connection.execute(sql, row).rowcount * 10 // number))

    async def write_together(*numbers: int) -> None:
        async with anyio.create_task_group() as tasks:
            for number in numbers:
                tasks.start_soon(write, number)

    with pytest.raises(ExceptionGroup) as failed:
        await write_together(1, 2, 0, 5)
    await write(10)
    kept = await file.lazy(lambda connection: connection.execute("SELECT ts FROM audit ORDER BY ts").fetchall())
    await close_database(file)

    assert [type(error) for error in failed.value.exceptions] == [ZeroDivisionError]
    assert (sorted(values), kept) == ([1, 2, 5, 10], [(1,), (2,), (5,), (10,)])
