"""Backs up a chat store to one SQLite file and restores it."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, LiteralString

from anyio import to_thread

from ui_mcp.errors import ChatError
from ui_mcp.storage.sqlite import connect, prepare

if TYPE_CHECKING:  # psycopg is an optional dependency, and SQLite stores import this module too
    from psycopg import AsyncConnection

Rows = Sequence[tuple[Any, ...]]
BATCH = 1000


# Rows refer to conversations by name, because the keys differ between databases.
TABLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "conversations": (
            "SELECT name, head, user_head FROM conversations",
            "INSERT INTO conversations (name, head, user_head) VALUES (?, ?, ?)",
        ),
        "messages": (
            (
                "SELECT c.name, m.id, m.ts, m.author, m.principal, m.mime, m.content, m.client_id "
                "FROM messages m JOIN conversations c ON c.key = m.conversation ORDER BY c.key, m.id"
            ),
            "INSERT INTO messages VALUES ((SELECT key FROM conversations WHERE name = ?), ?, ?, ?, ?, ?, ?, ?)",
        ),
        "receipts": ("SELECT * FROM receipts", "INSERT INTO receipts VALUES (?, ?, ?)"),
        "tokens": ("SELECT * FROM tokens", "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)"),
        "audit": ("SELECT * FROM audit", "INSERT INTO audit VALUES (?, ?, ?, ?)"),
    }
)


def start(path: Path) -> None:
    """Create the empty file of a backup.

    Raises:
        ChatError: the file exists, or cannot be written.
    """
    if path.exists():
        raise ChatError(f"{path} exists; name a new file", "invalid_argument", path=str(path))
    prepare(path)


def add(connection: sqlite3.Connection, table: str, rows: Rows) -> None:
    """Insert rows into a table; the caller holds the transaction."""
    connection.executemany(TABLES[table][1], rows)


def restore(connection: sqlite3.Connection, source: Path) -> None:
    """Copy a backup into an empty store; the caller holds the write transaction.

    Raises:
        ChatError: the store is not empty, or the file is not a backup.
    """
    refuse_unless_empty(connection.execute("SELECT count(*) FROM messages").fetchone()[0])
    for name in ("conversations", "receipts", "tokens", "audit"):
        connection.execute(f"DELETE FROM {name}")  # noqa: S608 - our own names
    for table, rows in read(source):
        add(connection, table, rows)


def refuse_unless_empty(messages: int) -> None:
    """Refuse to restore into a store with messages: messages are final, so two logs cannot be merged.

    Raises:
        ChatError: `messages` is not 0.
    """
    if messages:
        message = f"The store holds {messages} messages; restore into an empty one (another --dir or storage.url)"
        raise ChatError(message, "invalid_argument")


def read(source: Path) -> Iterator[tuple[str, Rows]]:
    """Yield the rows of a backup as (table, rows), at most `BATCH` rows at a time.

    Raises:
        ChatError: the file is not a backup, or was written by a newer version.
    """
    with _open_copy(source) as connection:
        for table, (query, _) in TABLES.items():
            found = connection.execute(query)
            while rows := found.fetchmany(BATCH):
                yield table, rows


@contextmanager
def _open_copy(source: Path) -> Iterator[sqlite3.Connection]:
    _require_backup(source)
    with tempfile.TemporaryDirectory() as folder:
        # `prepare` migrates an older schema; the original file must not change.
        copy = Path(folder) / "backup.db"
        shutil.copyfile(source, copy)
        prepare(copy)
        with closing(connect(copy)) as connection:
            yield connection


def _require_backup(source: Path) -> None:
    try:
        with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT name, head, user_head FROM conversations LIMIT 1")
    except sqlite3.Error as error:
        raise ChatError(f"{source} is no backup of a chat: {error}", "invalid_argument", path=str(source)) from error


_TABLES: Mapping[str, tuple[LiteralString, LiteralString]] = MappingProxyType(
    {
        "conversations": (
            "SELECT name, head, user_head FROM chat_conversations ORDER BY name",
            "INSERT INTO chat_conversations VALUES (%s, %s, %s)",
        ),
        "messages": (
            (
                "SELECT conversation, id, ts, author, principal, mime, content, client_id FROM chat_messages "
                "ORDER BY conversation, id"
            ),
            "INSERT INTO chat_messages VALUES (%s, %s, %s, %s, %s, %s, %s, %s, octet_length(%s))",
        ),
        "receipts": ("SELECT * FROM chat_receipts", "INSERT INTO chat_receipts VALUES (%s, %s, %s)"),
        "tokens": ("SELECT * FROM chat_tokens", "INSERT INTO chat_tokens VALUES (%s, %s, %s, %s, %s, %s, %s)"),
        "audit": ("SELECT * FROM chat_audit", "INSERT INTO chat_audit VALUES (%s, %s, %s, %s)"),
    }
)


async def backup_postgres(connection: "AsyncConnection[Any]", target: Path) -> None:
    """Write a consistent snapshot of the whole store to a new file, while it is in use."""
    await to_thread.run_sync(start, target)
    with closing(connect(target)) as file:
        file.execute("BEGIN IMMEDIATE")
        async with connection.transaction():
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            for table, (query, _) in _TABLES.items():
                async with connection.cursor(name="backup") as cursor:
                    await cursor.execute(query)
                    while rows := await cursor.fetchmany(BATCH):
                        await to_thread.run_sync(add, file, table, rows)
        await to_thread.run_sync(file.execute, "COMMIT")


async def restore_postgres(connection: "AsyncConnection[Any]", source: Path) -> None:
    """Copy a backup into an empty store in one transaction."""
    async with connection.transaction():
        await connection.execute("LOCK TABLE chat_conversations, chat_messages IN EXCLUSIVE MODE")
        found = await (await connection.execute("SELECT count(*) FROM chat_messages")).fetchone()
        refuse_unless_empty(found[0] if found else 0)
        for table in ("chat_conversations", "chat_receipts", "chat_tokens", "chat_audit"):
            await connection.execute(f"DELETE FROM {table}".encode())  # noqa: S608 - our own names
        batches = read(source)
        while batch := await to_thread.run_sync(next, batches, None):
            table, rows = batch
            measured = [(*row, row[6]) for row in rows] if table == "messages" else rows
            async with connection.cursor() as cursor:
                await cursor.executemany(_TABLES[table][1], measured)
