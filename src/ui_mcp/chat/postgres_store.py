"""The ChatStore in PostgreSQL."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, LiteralString

from anyio import to_thread
from psycopg import AsyncConnection

from ui_mcp.chat.message import Clock, Message, Page, Posted, Window, now_us
from ui_mcp.chat.sqlite_store import BATCH, COLUMNS, Rows, add_to_backup, new_backup, read_backup, refuse_unless_empty
from ui_mcp.chat.store import LOOKED_AT, MARK, Post, Query, SmallTables, Stage, storage_error, taken, window
from ui_mcp.storage.postgres import UNLIMITED, PostgresPool
from ui_mcp.storage.schema import Schema

_EVERYONE = ("user", "assistant")


class PostgresStore(SmallTables):
    """Messages, receipts and tokens in one database; commits wake other processes by NOTIFY."""

    def __init__(self, pool: PostgresPool, clock: Clock) -> None:
        super().__init__(pool, "chat_", clock)
        self._pool = pool

    @classmethod
    async def open(cls, url: str, *, connect_timeout: float = 30.0, clock: Clock = now_us) -> "PostgresStore":
        """Connect, with retries for `connect_timeout` seconds, and migrate the database to the newest schema.

        Raises:
            ChatError: the server cannot be reached, or the database has a newer schema.
        """
        return cls(await PostgresPool.open(url, SCHEMA, CHANNEL, connect_timeout=connect_timeout), clock)

    async def close(self) -> None:
        await self._pool.close()

    async def append(self, post: Post) -> Sequence[Posted]:
        # One round trip: the function locks the conversation's row before it chooses the first id.
        times = [self._clock() for _ in post.drafts]
        mimes, contents, ids = zip(
            *[(draft.mime, draft.content, draft.client_id) for draft in post.drafts], strict=True
        )
        values = (post.conversation, post.author, post.principal, times, list(mimes), list(contents), list(ids))
        return [Posted(*row) for row in await self._query(APPEND, values)]

    async def since(self, query: Query) -> Page:
        async with self._pool.connection() as connection:
            return await _page(connection, query)

    async def advance(self, query: Query, subscriber: str, number: int) -> Page:
        async with self._pool.connection() as connection:
            # Even without a new mark this locks its row, so that no other reader moves it before the page is read.
            values = (query.conversation, f"{MARK}{subscriber}", number)
            ((mark,),) = await _rows(connection, f"{REACHED} RETURNING id", values)
            return await _page(connection, replace(query, after=mark))

    async def newest(self, conversation: str, limit: int, max_bytes: int) -> Window:
        return await self.before(conversation, 2**63 - 1, limit, max_bytes)

    async def before(self, conversation: str, before: int, limit: int, max_bytes: int) -> Window:
        values = {"conversation": conversation, "before": before, "rows": limit + 1, "max_bytes": max_bytes}
        rows = await self._query(BEFORE, values)
        return window((Message(*row) for row in rows), limit, max_bytes)

    async def unread(self, conversation: str, after: int, principal: str) -> int:
        return int((await self._pool.rows(UNREAD, (conversation, after, principal)))[0][0])

    async def reached(self, conversation: str, stage: Stage, number: int) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(REACHED, (conversation, stage, number))
            await connection.execute(NOTIFY, (CHANNEL,))

    async def audit(self, principal: str, action: str, detail: str) -> None:
        row = (self._clock(), principal, action, detail)
        await self._pool.change("INSERT INTO chat_audit VALUES (?, ?, ?, ?)", row)

    async def backup(self, target: str) -> None:
        """Write a consistent snapshot of the whole store to a new file, while it is in use."""
        with closing(await to_thread.run_sync(new_backup, Path(target))) as file:
            await to_thread.run_sync(file.execute, "BEGIN IMMEDIATE")
            async with self._pool.connection() as connection, connection.transaction():
                await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                await connection.execute(UNLIMITED)
                for table, columns in COLUMNS.items():
                    async with connection.cursor(name="backup") as cursor:
                        await cursor.execute(f"SELECT {columns} FROM chat_{table} ORDER BY 1, 2".encode())  # noqa: S608
                        while rows := await cursor.fetchmany(BATCH):
                            await to_thread.run_sync(add_to_backup, file, table, rows)
            await to_thread.run_sync(file.execute, "COMMIT")

    async def restore(self, source: str) -> None:
        """Copy a backup into an empty store in one transaction."""
        async with self._pool.connection() as connection:
            await connection.execute(UNLIMITED)
            await connection.execute("LOCK TABLE chat_conversations, chat_messages IN EXCLUSIVE MODE")
            found = await _rows(connection, "SELECT count(*) FROM chat_messages", ())
            refuse_unless_empty(found[0][0])
            for table in ("chat_conversations", "chat_receipts", "chat_tokens", "chat_audit"):
                await connection.execute(f"DELETE FROM {table}".encode())  # noqa: S608 - our own names
            batches = read_backup(Path(source))
            while batch := await to_thread.run_sync(next, batches, None):
                await _insert(connection, *batch)
            await connection.execute(NOTIFY, (CHANNEL,))

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next NOTIFY, or when listening has just begun; False after `limit` seconds."""
        return await self._pool.changed(limit)

    async def _query(self, statement: LiteralString, values: Any = ()) -> list[tuple[Any, ...]]:
        async with self._pool.connection() as connection:
            return await _rows(connection, statement, values)


async def _page(connection: AsyncConnection[Any], query: Query) -> Page:
    heads = await _rows(connection, HEAD, (query.conversation,))
    if not heads:
        return Page((), query.after, None)
    values = {
        "conversation": query.conversation,
        "after": query.after,
        "authors": list(query.authors or _EVERYONE),
        "rows": query.limit if query.authors is None else LOOKED_AT,
        "max_bytes": query.max_bytes,
    }
    rows = await _rows(connection, AFTER, values)
    messages, last = taken((Message(*row) for row in rows), query)
    # The head was read first; a commit before the second statement may be newer.
    return Page(messages, last, max(heads[0][0], last))


async def _rows(connection: AsyncConnection[Any], statement: LiteralString, values: Any) -> list[tuple[Any, ...]]:
    return await (await connection.execute(statement, values)).fetchall()


async def _insert(connection: AsyncConnection[Any], table: str, rows: Rows) -> None:
    columns = COLUMNS[table]
    marks = ", ".join(["%s"] * len(columns.split()))
    if table == "messages":
        columns, marks = f"{columns}, size", f"{marks}, octet_length(%s)"
        rows = [(*row, row[6]) for row in rows]
    async with connection.cursor() as cursor:
        await cursor.executemany(f"INSERT INTO chat_{table} ({columns}) VALUES ({marks})".encode(), rows)  # noqa: S608


CHANNEL = "ui_mcp_chat"

MIGRATIONS: tuple[LiteralString, ...] = (
    """
    CREATE TABLE chat_conversations (name text PRIMARY KEY, head bigint NOT NULL, user_head bigint NOT NULL);
    CREATE TABLE chat_messages (
        conversation text NOT NULL REFERENCES chat_conversations(name),
        id bigint NOT NULL, ts bigint NOT NULL, author text NOT NULL, principal text NOT NULL,
        mime text NOT NULL, content text NOT NULL, client_id text, size bigint NOT NULL,
        PRIMARY KEY (conversation, id)
    );
    CREATE UNIQUE INDEX chat_messages_once ON chat_messages (conversation, principal, client_id)
        WHERE client_id IS NOT NULL;
    CREATE FUNCTION chat_messages_final() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'messages are final'; END$$;
    CREATE TRIGGER chat_messages_stay BEFORE UPDATE OR DELETE ON chat_messages
        FOR EACH ROW EXECUTE FUNCTION chat_messages_final();
    CREATE TABLE chat_receipts (
        conversation text NOT NULL, stage text NOT NULL, id bigint NOT NULL, PRIMARY KEY (conversation, stage)
    );
    CREATE TABLE chat_tokens (
        id text PRIMARY KEY, name text NOT NULL, subscriber text NOT NULL, scopes text NOT NULL,
        digest bytea NOT NULL, created bigint NOT NULL, expires bigint
    );
    CREATE TABLE chat_audit (ts bigint NOT NULL, principal text NOT NULL, action text NOT NULL, detail text NOT NULL);
    CREATE FUNCTION chat_append(
        in_conversation text, in_author text, in_principal text,
        times bigint[], mimes text[], contents text[], client_ids text[]
    ) RETURNS TABLE (out_id bigint, out_ts bigint, repeated boolean) LANGUAGE plpgsql AS $$
    DECLARE
        newest bigint;
        fresh boolean := false;
    BEGIN
        INSERT INTO chat_conversations VALUES (in_conversation, 0, 0) ON CONFLICT DO NOTHING;
        SELECT head INTO newest FROM chat_conversations WHERE name = in_conversation FOR UPDATE;
        FOR n IN 1 .. array_length(contents, 1) LOOP
            SELECT m.id, m.ts, true INTO out_id, out_ts, repeated FROM chat_messages m
                WHERE m.conversation = in_conversation AND m.principal = in_principal AND m.client_id = client_ids[n];
            IF NOT FOUND THEN
                newest := greatest(times[n] / 1000 * 1000000, newest + 1);
                INSERT INTO chat_messages VALUES (
                    in_conversation, newest, times[n], in_author, in_principal, mimes[n], contents[n], client_ids[n],
                    octet_length(contents[n])
                );
                SELECT newest, times[n], false INTO out_id, out_ts, repeated;
                fresh := true;
            END IF;
            RETURN NEXT;
        END LOOP;
        IF fresh THEN
            UPDATE chat_conversations
                SET head = newest, user_head = CASE WHEN in_author = 'user' THEN newest ELSE user_head END
                WHERE name = in_conversation;
            PERFORM pg_notify('ui_mcp_chat', '');
        END IF;
    END $$;
    """,
)

SCHEMA = Schema("chat", storage_error, MIGRATIONS, "chat_schema", lock=7_155_091_642_118)

APPEND: LiteralString = "SELECT * FROM chat_append(%s, %s, %s, %s, %s, %s, %s)"
NOTIFY: LiteralString = "SELECT pg_notify(%s, '')"
HEAD: LiteralString = "SELECT head FROM chat_conversations WHERE name = %s"

AFTER: LiteralString = """
    SELECT id, ts, author, mime, CASE WHEN wanted THEN content ELSE '' END, client_id, principal
    FROM (
        SELECT *, sum(CASE WHEN wanted THEN size ELSE 0 END) OVER (ORDER BY id) - size AS earlier
        FROM (
            SELECT *, author = ANY(%(authors)s) AS wanted FROM chat_messages
            WHERE conversation = %(conversation)s AND id > %(after)s ORDER BY id LIMIT %(rows)s
        ) AS looked_at
    ) AS measured
    WHERE earlier <= %(max_bytes)s ORDER BY id
"""

BEFORE: LiteralString = """
    SELECT id, ts, author, mime, content, client_id, principal
    FROM (
        SELECT *, sum(size) OVER newest_first - size AS later, row_number() OVER newest_first AS position
        FROM (
            SELECT * FROM chat_messages WHERE conversation = %(conversation)s AND id < %(before)s
            ORDER BY id DESC LIMIT %(rows)s
        ) AS looked_at WINDOW newest_first AS (ORDER BY id DESC)
    ) AS measured
    WHERE later <= %(max_bytes)s OR position = 2 ORDER BY id DESC
"""

UNREAD: LiteralString = """
    SELECT count(*) FROM (
        SELECT 1 FROM chat_messages
        WHERE conversation = ? AND id > ? AND author = 'user' AND principal <> ? LIMIT 1000
    ) AS found
"""

REACHED: LiteralString = (
    "INSERT INTO chat_receipts VALUES (%s, %s, %s) "
    "ON CONFLICT (conversation, stage) DO UPDATE SET id = greatest(chat_receipts.id, excluded.id)"
)
