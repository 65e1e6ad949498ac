"""The ChatStore in PostgreSQL."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString

from anyio import sleep
from psycopg import AsyncConnection, Error, OperationalError
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ui_mcp.chat import backup
from ui_mcp.chat.message import Clock, Head, Message, Page, Posted, Window, now_us
from ui_mcp.chat.store import LOOKED_AT, Post, Query, Stage, Token, taken, window
from ui_mcp.errors import ChatError
from ui_mcp.storage.postgres import shown, with_retry

_EVERYONE = ("user", "assistant")
_CONNECTIONS = 8
_RECONNECT_SECONDS = 0.5


class PostgresStore:
    """Messages, receipts and tokens in one database; commits wake other processes by NOTIFY."""

    def __init__(self, url: str, pool: AsyncConnectionPool, clock: Clock) -> None:
        self._url = url
        self._pool = pool
        self._clock = clock
        self._listener: AsyncConnection[Any] | None = None

    @classmethod
    async def open(cls, url: str, *, patience: float = 30.0, clock: Clock = now_us) -> "PostgresStore":
        """Connect, with retries for `patience` seconds, and migrate the database to the newest schema.

        Raises:
            ChatError: the server cannot be reached, or the database has a newer schema.
        """
        await with_retry(url, prepare, patience=patience)
        pool = AsyncConnectionPool(url, min_size=1, max_size=_CONNECTIONS, open=False, timeout=10.0)
        try:
            await pool.open(wait=True, timeout=patience)
        except PoolTimeout as error:
            await pool.close()
            raise ChatError(f"The chat database {shown(url)} gives us no connection", "storage_error") from error
        return cls(url, pool, clock)

    async def close(self) -> None:
        await self._drop_listener()
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
        async with self._connection() as connection:
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

    async def newest(self, conversation: str, limit: int, max_bytes: int) -> Window:
        return await self.before(conversation, 2**63 - 1, limit, max_bytes)

    async def before(self, conversation: str, before: int, limit: int, max_bytes: int) -> Window:
        values = {"conversation": conversation, "before": before, "rows": limit + 1, "max_bytes": max_bytes}
        rows = await self._query(BEFORE, values)
        return window((Message(*row) for row in rows), limit, max_bytes)

    async def heads(self, after: int = 0) -> Mapping[str, Head]:
        rows = await self._query("SELECT name, head, user_head FROM chat_conversations WHERE head > %s", (after,))
        return {name: Head(head, user_head) for name, head, user_head in rows}

    async def unread(self, conversation: str, after: int, principal: str) -> int:
        return int((await self._query(UNREAD, (conversation, after, principal)))[0][0])

    async def reached(self, conversation: str, stage: Stage, number: int) -> None:
        async with self._connection() as connection:
            await connection.execute(REACHED, (conversation, stage, number))
            await connection.execute(NOTIFY, (CHANNEL,))

    async def receipts(self, conversation: str) -> Mapping[Stage, int]:
        return dict(await self._query("SELECT stage, id FROM chat_receipts WHERE conversation = %s", (conversation,)))

    async def add_token(self, token: Token, digest: bytes) -> None:
        scopes = " ".join(sorted(token.scopes))
        row = (token.id, token.name, token.subscriber, scopes, digest, token.created, token.expires)
        async with self._connection() as connection:
            await connection.execute("INSERT INTO chat_tokens VALUES (%s, %s, %s, %s, %s, %s, %s)", row)

    async def token(self, token_id: str) -> tuple[Token, bytes] | None:
        rows = await self._query("SELECT * FROM chat_tokens WHERE id = %s", (token_id,))
        return (_token(rows[0]), rows[0][4]) if rows else None

    async def tokens(self) -> Sequence[Token]:
        return [_token(row) for row in await self._query("SELECT * FROM chat_tokens ORDER BY created, id")]

    async def end_tokens(self, name: str, at: int) -> int:
        async with self._connection() as connection:
            ended = await connection.execute(END_TOKENS, {"at": at, "name": name, "now": self._clock()})
            return ended.rowcount

    async def audit(self, principal: str, action: str, detail: str) -> None:
        async with self._connection() as connection:
            row = (self._clock(), principal, action, detail)
            await connection.execute("INSERT INTO chat_audit VALUES (%s, %s, %s, %s)", row)

    async def backup(self, target: str) -> None:
        async with self._connection() as connection:
            await backup.backup_postgres(connection, Path(target))

    async def restore(self, source: str) -> None:
        async with self._connection() as connection:
            await backup.restore_postgres(connection, Path(source))
            await connection.execute(NOTIFY, (CHANNEL,))

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next NOTIFY, or when listening has just begun; False after `limit` seconds."""
        try:
            if self._listener is None:
                self._listener = await self._listen()
                return True  # commits between the caller's last read and LISTEN sent no notification to us
            return bool([notice async for notice in self._listener.notifies(timeout=limit, stop_after=1)])
        except Error:
            await self._drop_listener()
            await sleep(min(limit, _RECONNECT_SECONDS))
        return False

    async def _listen(self) -> AsyncConnection[Any]:
        listener = await AsyncConnection.connect(self._url, autocommit=True)
        try:
            await listener.execute(f"LISTEN {CHANNEL}")
        except BaseException:  # also on cancellation: a connection without LISTEN would never be notified
            await listener.close()
            raise
        return listener

    async def _drop_listener(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.close()

    async def _query(self, statement: LiteralString, values: Any = ()) -> list[tuple[Any, ...]]:
        async with self._connection() as connection:
            return await _rows(connection, statement, values)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (OperationalError, PoolTimeout) as error:
            raise ChatError("The chat database cannot be reached; try again", "busy") from error
        except Error as error:
            raise ChatError(f"The chat database failed: {error}", "storage_error") from error


async def _rows(connection: AsyncConnection[Any], statement: LiteralString, values: Any) -> list[tuple[Any, ...]]:
    return await (await connection.execute(statement, values)).fetchall()


def _token(row: tuple[Any, ...]) -> Token:
    token_id, name, subscriber, scopes, _, created, expires = row
    return Token(token_id, name, subscriber, frozenset(scopes.split()), created, expires)


SCHEMA_LOCK = 7_155_091_642_118
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

VERSION_TABLE: LiteralString = "CREATE TABLE IF NOT EXISTS chat_schema (version integer NOT NULL)"
APPEND: LiteralString = "SELECT * FROM chat_append(%s, %s, %s, %s, %s, %s, %s)"
NOTIFY: LiteralString = "SELECT pg_notify(%s, '')"
HEAD: LiteralString = "SELECT head FROM chat_conversations WHERE name = %s"

AFTER: LiteralString = """
    SELECT id, ts, author, mime, CASE WHEN wanted THEN content ELSE '' END, client_id
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
    SELECT id, ts, author, mime, content, client_id
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
        WHERE conversation = %s AND id > %s AND author = 'user' AND principal <> %s LIMIT 1000
    ) AS found
"""

REACHED: LiteralString = (
    "INSERT INTO chat_receipts VALUES (%s, %s, %s) "
    "ON CONFLICT (conversation, stage) DO UPDATE SET id = greatest(chat_receipts.id, excluded.id)"
)

END_TOKENS: LiteralString = (
    "UPDATE chat_tokens SET expires = least(coalesce(expires, %(at)s), %(at)s) "
    "WHERE name = %(name)s AND (expires IS NULL OR expires > %(now)s)"
)

_LOCK_SECONDS = 20


async def prepare(connection: AsyncConnection[Any]) -> None:
    """Migrate a database to the newest schema; an advisory lock serialises processes that start together.

    Raises:
        ChatError: the database has a newer schema.
    """
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        await connection.execute(VERSION_TABLE)
        row = await (await connection.execute("SELECT max(version) FROM chat_schema")).fetchone()
        version = row[0] or 0 if row else 0
        if version > len(MIGRATIONS):
            message = f"The chat database was written by a newer ui-mcp (schema {version}); update this one"
            raise ChatError(message, "storage_error", schema=version)
        for script in MIGRATIONS[version:]:
            await connection.execute(script)
        if version < len(MIGRATIONS):
            await connection.execute("DELETE FROM chat_schema")
            await connection.execute("INSERT INTO chat_schema VALUES (%s)", (len(MIGRATIONS),))
