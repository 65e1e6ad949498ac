"""The ChatStore in one SQLite file."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter, Event, create_task_group, move_on_after, to_thread

from ui_mcp.chat import backup as copy
from ui_mcp.chat.message import Clock, Draft, Head, Message, Page, Posted, Window, next_id, now_us
from ui_mcp.chat.store import LOOKED_AT, Post, Query, Stage, Token, taken, window
from ui_mcp.storage.sqlite import Writer, connect, prepare, translated
from ui_mcp.storage.wakeup import WakeupPipe

T = TypeVar("T")
_READERS = 4
_IDLE_POLL_SECONDS = 1.0


class SqliteStore:
    """Messages, receipts and tokens in one file; one writer thread, several readers."""

    def __init__(self, path: Path, *, poll: float = 0.025, clock: Clock = now_us) -> None:
        self._path = path
        self._poll = poll
        self._clock = clock
        real = path.resolve()
        self._wakeup = WakeupPipe(real.with_name(f"{real.name}-bells"))
        self._writer = Writer(path, self._wakeup.wake_others)
        self._watcher = connect(path)
        self._seen = self._version()
        self._written = Event()
        self._readers: list[sqlite3.Connection] = []
        self._limiter = CapacityLimiter(_READERS)

    @classmethod
    async def open(cls, path: Path, *, poll: float = 0.025, clock: Clock = now_us) -> "SqliteStore":
        """Create or open the file.

        Raises:
            ChatError: the file cannot be used.
        """
        await to_thread.run_sync(prepare, path)
        return cls(path, poll=poll, clock=clock)

    async def close(self) -> None:
        for connection in (*self._readers, self._watcher):
            connection.close()
        self._readers.clear()
        self._writer.close()
        self._wakeup.close()

    async def append(self, post: Post) -> Sequence[Posted]:
        posted = await self._writer.durable(lambda connection: append(connection, post, self._clock))
        self._wake()
        return posted

    async def since(self, query: Query) -> Page:
        return await self._read(lambda connection: since(connection, query))

    async def newest(self, conversation: str, limit: int, max_bytes: int) -> Window:
        return await self.before(conversation, 2**63 - 1, limit, max_bytes)

    async def before(self, conversation: str, before: int, limit: int, max_bytes: int) -> Window:
        return await self._read(lambda connection: before_id(connection, conversation, before, limit, max_bytes))

    async def heads(self, after: int = 0) -> Mapping[str, Head]:
        rows = await self._rows("SELECT name, head, user_head FROM conversations WHERE head > ?", after)
        return {name: Head(head, user_head) for name, head, user_head in rows}

    async def unread(self, conversation: str, after: int, principal: str) -> int:
        rows = await self._rows(
            "SELECT count(*) FROM (SELECT 1 FROM messages WHERE author = 'user' AND principal <> ? AND id > ? AND "
            "conversation = (SELECT key FROM conversations WHERE name = ?) ORDER BY id LIMIT 1000)",
            principal,
            after,
            conversation,
        )
        return int(rows[0][0])

    async def reached(self, conversation: str, stage: Stage, number: int) -> None:
        sql = "INSERT INTO receipts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET id = max(id, excluded.id)"
        await self._writer.lazy(lambda connection: connection.execute(sql, (conversation, stage, number)))
        self._wake()

    async def receipts(self, conversation: str) -> Mapping[Stage, int]:
        return dict(await self._rows("SELECT stage, id FROM receipts WHERE conversation = ?", conversation))

    async def add_token(self, token: Token, digest: bytes) -> None:
        scopes = " ".join(sorted(token.scopes))
        row = (token.id, token.name, token.subscriber, scopes, digest, token.created, token.expires)
        sql = "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)"
        await self._writer.durable(lambda connection: connection.execute(sql, row))

    async def token(self, token_id: str) -> tuple[Token, bytes] | None:
        rows = await self._rows("SELECT * FROM tokens WHERE id = ?", token_id)
        return (_token(rows[0]), rows[0][4]) if rows else None

    async def tokens(self) -> Sequence[Token]:
        return [_token(row) for row in await self._rows("SELECT * FROM tokens ORDER BY created, id")]

    async def end_tokens(self, name: str, at: int) -> int:
        sql = (
            "UPDATE tokens SET expires = min(coalesce(expires, ?), ?) "
            "WHERE name = ? AND (expires IS NULL OR expires > ?)"
        )
        ended = await self._writer.durable(
            lambda connection: connection.execute(sql, (at, at, name, self._clock())).rowcount
        )
        return int(ended)

    async def audit(self, principal: str, action: str, detail: str) -> None:
        row = (self._clock(), principal, action, detail)
        await self._writer.lazy(lambda connection: connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?)", row))

    async def backup(self, target: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            copy.start(Path(target))
            with closing(connect(Path(target))) as into:
                connection.backup(into)

        await self._read(write)

    async def restore(self, source: str) -> None:
        await self._writer.durable(lambda connection: copy.restore(connection, Path(source)))
        self._wake()

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next commit by any process, False after `limit` seconds."""
        wakeable = self._wakeup.listen()
        pause = None if wakeable else self._poll if closely else _IDLE_POLL_SECONDS
        with move_on_after(limit):
            async with create_task_group() as tasks:
                tasks.start_soon(self._relay_wakeups)
                while self._version() == self._seen:
                    with move_on_after(pause):
                        await self._written.wait()
                    self._written = Event()
                tasks.cancel_scope.cancel()
        before, self._seen = self._seen, self._version()
        return self._seen != before

    async def _relay_wakeups(self) -> None:
        while self._wakeup.listen():
            await self._wakeup.wait()
            self._wake()

    def _version(self) -> int:
        # Takes 8 µs, because SQLite only reads shared memory: cheaper on the event loop than in a thread.
        try:
            return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            return -1  # counts as a change, so that the next read raises the error

    def _wake(self) -> None:
        self._written.set()

    async def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return await self._read(lambda connection: connection.execute(sql, values).fetchall())

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            try:
                connection = self._readers.pop()
            except IndexError:
                connection = connect(self._path)
            try:
                found = work(connection)
            except sqlite3.Error as error:
                connection.close()  # do not reuse: a connection opened on a read-only disk stays read-only
                raise translated(error, self._path) from error
            except BaseException:
                self._readers.append(connection)
                raise
            self._readers.append(connection)
            return found

        return await to_thread.run_sync(run, limiter=self._limiter)


def _token(row: tuple[Any, ...]) -> Token:
    token_id, name, subscriber, scopes, _, created, expires = row
    return Token(token_id, name, subscriber, frozenset(scopes.split()), created, expires)


_FIND = "SELECT key, head FROM conversations WHERE name = ?"
_START = "INSERT INTO conversations (name, head, user_head) VALUES (?, 0, 0)"
_MOVE = "UPDATE conversations SET head = ?, user_head = CASE WHEN ? THEN ? ELSE user_head END WHERE key = ?"
_INSERT = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_EARLIER = "SELECT id, ts FROM messages WHERE conversation = ? AND principal = ? AND client_id = ?"

_AFTER = (
    "SELECT id, ts, author, mime, content, client_id FROM messages "
    "WHERE conversation = ? AND id > ? ORDER BY id LIMIT ?"
)

_BEFORE = (
    "SELECT id, ts, author, mime, content, client_id FROM messages "
    "WHERE conversation = ? AND id < ? ORDER BY id DESC LIMIT ?"
)


def append(connection: sqlite3.Connection, post: Post, clock: Clock) -> list[Posted]:
    """Insert a batch; the caller holds the write transaction."""
    key, head = _find_or_create(connection, post.conversation)
    posted = []
    for draft in post.drafts:
        done = _earlier(connection, key, post.principal, draft) or _insert(
            connection, (key, head), post, draft, clock()
        )
        head = max(head, done.id)
        posted.append(done)
    if not all(done.repeated for done in posted):
        connection.execute(_MOVE, (head, post.author == "user", head, key))
    return posted


def since(connection: sqlite3.Connection, query: Query) -> Page:
    """Return one page; head and messages come from the same snapshot."""
    connection.execute("BEGIN")
    try:
        found = connection.execute(_FIND, (query.conversation,)).fetchone()
        if found is None:
            return Page((), query.after, None)
        most = query.limit + 1 if query.authors is None else LOOKED_AT
        rows = connection.execute(_AFTER, (found[0], query.after, most))
        messages, last = taken((Message(*row) for row in rows), query)
        return Page(messages, last, found[1])
    finally:
        connection.execute("COMMIT")


def before_id(connection: sqlite3.Connection, name: str, number: int, limit: int, max_bytes: int) -> Window:
    """Return the newest messages before an id."""
    found = connection.execute(_FIND, (name,)).fetchone()
    if found is None:
        return Window((), cut=False)
    rows = connection.execute(_BEFORE, (found[0], number, limit + 1))
    return window((Message(*row) for row in rows), limit, max_bytes)


def _find_or_create(connection: sqlite3.Connection, name: str) -> tuple[int, int]:
    row = connection.execute(_FIND, (name,)).fetchone()
    if row is None:
        return int(connection.execute(_START, (name,)).lastrowid or 0), 0
    return int(row[0]), int(row[1])


def _earlier(connection: sqlite3.Connection, key: int, principal: str, draft: Draft) -> Posted | None:
    if draft.client_id is None:
        return None
    row = connection.execute(_EARLIER, (key, principal, draft.client_id)).fetchone()
    return Posted(row[0], row[1], repeated=True) if row else None


def _insert(connection: sqlite3.Connection, place: tuple[int, int], post: Post, draft: Draft, ts: int) -> Posted:
    key, head = place
    number = next_id(head, ts)
    row = (key, number, ts, post.author, post.principal, draft.mime, draft.content, draft.client_id)
    connection.execute(_INSERT, row)
    return Posted(number, ts)
