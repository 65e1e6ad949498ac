"""Copying a PostgreSQL store to and from a backup file, each in one transaction."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, LiteralString

from anyio import to_thread
from psycopg import AsyncConnection

from ui_mcp.chat.stores import postgres_sql as sql
from ui_mcp.chat.stores.sqlite_file import connect
from ui_mcp.storage import backup as copy

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


async def backup(connection: AsyncConnection[Any], target: Path) -> None:
    """Write one moment of the whole store to a new file, while others go on posting."""
    await to_thread.run_sync(copy.start, target)
    with closing(connect(target)) as file:
        file.execute("BEGIN IMMEDIATE")
        async with connection.transaction():
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            for table, (query, _) in _TABLES.items():
                async with connection.cursor(name="backup") as cursor:
                    await cursor.execute(query)
                    while rows := await cursor.fetchmany(copy.BATCH):
                        await to_thread.run_sync(copy.add, file, table, rows)
        await to_thread.run_sync(file.execute, "COMMIT")


async def restore(connection: AsyncConnection[Any], source: Path) -> None:
    """Fill an empty store from a backup: all of it or nothing."""
    async with connection.transaction():
        await connection.execute("LOCK TABLE chat_conversations, chat_messages IN EXCLUSIVE MODE")
        found = await (await connection.execute("SELECT count(*) FROM chat_messages")).fetchone()
        copy.refuse_unless_empty(found[0] if found else 0)
        for table in ("chat_conversations", "chat_receipts", "chat_tokens", "chat_audit"):
            await connection.execute(f"DELETE FROM {table}".encode())  # noqa: S608 - our own names
        batches = copy.read(source)
        while batch := await to_thread.run_sync(next, batches, None):
            table, rows = batch
            measured = [(*row, row[6]) for row in rows] if table == "messages" else rows
            async with connection.cursor() as cursor:
                await cursor.executemany(_TABLES[table][1], measured)
        await connection.execute(sql.NOTIFY, (sql.CHANNEL,))
