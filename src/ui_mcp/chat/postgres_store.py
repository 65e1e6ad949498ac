"""The shared store: PostgreSQL, for several machines on one chat."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString

from anyio import sleep
from psycopg import AsyncConnection, Error, OperationalError
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ui_mcp.chat.clock import Clock, now_us
from ui_mcp.chat.message import Head, Message, Page, Posted, Window
from ui_mcp.chat.paging import LOOKED_AT, taken, window
from ui_mcp.chat.store import Post, Query, Stage, Token
from ui_mcp.chat.stores import postgres_copy
from ui_mcp.chat.stores import postgres_sql as sql
from ui_mcp.chat.stores.postgres_open import patiently, prepare, shown
from ui_mcp.errors import ChatError

_EVERYONE = ("user", "assistant")
_CONNECTIONS = 8
_RECONNECT_SECONDS = 0.5


class PostgresStore:
    """Messages, receipts and tokens in one database; a commit is told by NOTIFY, which is only a hint."""

    def __init__(self, url: str, pool: AsyncConnectionPool, clock: Clock) -> None:
        self._url = url
        self._pool = pool
        self._clock = clock
        self._listener: AsyncConnection[Any] | None = None

    @classmethod
    async def open(cls, url: str, *, patience: float = 30.0, clock: Clock = now_us) -> "PostgresStore":
        """Connect, waiting for a database that is not there yet, and bring it to the newest schema.

        Raises:
            ChatError: the server cannot be reached or holds a newer schema.
        """
        await patiently(url, prepare, patience=patience)
        pool = AsyncConnectionPool(url, min_size=1, max_size=_CONNECTIONS, open=False, timeout=10.0)
        try:
            await pool.open(wait=True, timeout=patience)
        except PoolTimeout as error:
            await pool.close()
            raise ChatError(f"The chat database {shown(url)} gives us no connection", "storage_error") from error
        return cls(url, pool, clock)

    async def close(self) -> None:
        """Close every connection."""
        await self._drop_listener()
        await self._pool.close()

    async def append(self, post: Post) -> Sequence[Posted]:
        """Commit a batch in one call; inside, the conversation's row is locked before the first id is chosen."""
        times = [self._clock() for _ in post.drafts]
        mimes, contents, ids = zip(
            *[(draft.mime, draft.content, draft.client_id) for draft in post.drafts], strict=True
        )
        values = (post.conversation, post.author, post.principal, times, list(mimes), list(contents), list(ids))
        return [Posted(*row) for row in await self._query(sql.APPEND, values)]

    async def since(self, query: Query) -> Page:
        """Return the messages after the cursor in commit order."""
        async with self._connection() as connection:
            heads = await _rows(connection, sql.HEAD, (query.conversation,))
            if not heads:
                return Page((), query.after, None)
            values = {
                "conversation": query.conversation,
                "after": query.after,
                "authors": list(query.authors or _EVERYONE),
                "rows": query.limit if query.authors is None else LOOKED_AT,
                "max_bytes": query.max_bytes,
            }
            rows = await _rows(connection, sql.AFTER, values)
        messages, last = taken((Message(*row) for row in rows), query)
        return Page(messages, last, max(heads[0][0], last))

    async def newest(self, conversation: str, limit: int, max_bytes: int) -> Window:
        """Return the newest messages, oldest first."""
        return await self.before(conversation, 2**63 - 1, limit, max_bytes)

    async def before(self, conversation: str, before: int, limit: int, max_bytes: int) -> Window:
        """Return the newest messages older than `before`, oldest first."""
        values = {"conversation": conversation, "before": before, "rows": limit + 1, "max_bytes": max_bytes}
        rows = await self._query(sql.BEFORE, values)
        return window((Message(*row) for row in rows), limit, max_bytes)

    async def heads(self, after: int = 0) -> Mapping[str, Head]:
        """Return how far each conversation has come, of those with a message after an id."""
        rows = await self._query("SELECT name, head, user_head FROM chat_conversations WHERE head > %s", (after,))
        return {name: Head(head, user_head) for name, head, user_head in rows}

    async def unread(self, conversation: str, after: int, principal: str) -> int:
        """Count messages by people other than `principal` after a cursor, up to 1000."""
        return int((await self._query(sql.UNREAD, (conversation, after, principal)))[0][0])

    async def reached(self, conversation: str, stage: Stage, number: int) -> None:
        """Move a receipt forward."""
        async with self._connection() as connection:
            await connection.execute(sql.REACHED, (conversation, stage, number))
            await connection.execute(sql.NOTIFY, (sql.CHANNEL,))

    async def receipts(self, conversation: str) -> Mapping[Stage, int]:
        """Return the newest id of each stage."""
        return dict(await self._query("SELECT stage, id FROM chat_receipts WHERE conversation = %s", (conversation,)))

    async def add_token(self, token: Token, digest: bytes) -> None:
        """Store a token under the digest of its secret."""
        scopes = " ".join(sorted(token.scopes))
        row = (token.id, token.name, token.subscriber, scopes, digest, token.created, token.expires)
        async with self._connection() as connection:
            await connection.execute("INSERT INTO chat_tokens VALUES (%s, %s, %s, %s, %s, %s, %s)", row)

    async def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """Return a token and the digest of its secret, also when it has ended."""
        rows = await self._query("SELECT * FROM chat_tokens WHERE id = %s", (token_id,))
        return (_token(rows[0]), rows[0][4]) if rows else None

    async def tokens(self) -> Sequence[Token]:
        """Return every token, oldest first."""
        return [_token(row) for row in await self._query("SELECT * FROM chat_tokens ORDER BY created, id")]

    async def end_tokens(self, name: str, at: int) -> int:
        """Let the valid tokens of `name` end at that time, and count them."""
        async with self._connection() as connection:
            ended = await connection.execute(sql.END_TOKENS, {"at": at, "name": name, "now": self._clock()})
            return ended.rowcount

    async def audit(self, principal: str, action: str, detail: str) -> None:
        """Note a refusal or a change of rights."""
        async with self._connection() as connection:
            row = (self._clock(), principal, action, detail)
            await connection.execute("INSERT INTO chat_audit VALUES (%s, %s, %s, %s)", row)

    async def backup(self, target: str) -> None:
        """Copy the whole store to a new file while it is in use."""
        async with self._connection() as connection:
            await postgres_copy.backup(connection, Path(target))

    async def restore(self, source: str) -> None:
        """Fill this store, which must be empty, from a backup."""
        async with self._connection() as connection:
            await postgres_copy.restore(connection, Path(source))

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next NOTIFY, or when listening has just begun; False after `limit` seconds."""
        try:
            if self._listener is None:
                self._listener = await self._listen()
                return True  # whoever looked before did not see what was committed until now
            return bool([told async for told in self._listener.notifies(timeout=limit, stop_after=1)])
        except Error:
            await self._drop_listener()
            await sleep(min(limit, _RECONNECT_SECONDS))
        return False

    async def _listen(self) -> AsyncConnection[Any]:
        listener = await AsyncConnection.connect(self._url, autocommit=True)
        try:
            await listener.execute(f"LISTEN {sql.CHANNEL}")
        except BaseException:  # also when we are called away: one that does not listen would never be told
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
