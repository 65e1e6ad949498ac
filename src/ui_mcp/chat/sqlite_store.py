"""The ChatStore in one SQLite file, which is also the format of backups."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anyio import to_thread

from ui_mcp.chat.message import Clock, Draft, Message, Page, Posted, Window, next_id, now_us
from ui_mcp.chat.store import LOOKED_AT, MARK, Post, Query, SmallTables, Stage, storage_error, taken, window
from ui_mcp.errors import ChatError
from ui_mcp.storage.database import close_database
from ui_mcp.storage.schema import Schema
from ui_mcp.storage.sqlite import CommitWatcher, SqliteFile, prepare

Rows = Sequence[tuple[Any, ...]]
BATCH = 1000

MIGRATIONS = (
    """
    CREATE TABLE conversations (
        key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER NOT NULL, user_head INTEGER NOT NULL
    );
    CREATE TABLE messages (
        conversation INTEGER NOT NULL REFERENCES conversations(key),
        id INTEGER NOT NULL, ts INTEGER NOT NULL, author TEXT NOT NULL, principal TEXT NOT NULL,
        mime TEXT NOT NULL, content TEXT NOT NULL, client_id TEXT,
        PRIMARY KEY (conversation, id)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX messages_once ON messages (conversation, principal, client_id) WHERE client_id IS NOT NULL;
    CREATE TRIGGER messages_stay BEFORE UPDATE ON messages BEGIN SELECT RAISE(ABORT, 'messages are final'); END;
    CREATE TRIGGER messages_last BEFORE DELETE ON messages BEGIN SELECT RAISE(ABORT, 'messages are final'); END;
    CREATE TABLE receipts (
        conversation TEXT NOT NULL, stage TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (conversation, stage)
    ) WITHOUT ROWID;
    CREATE TABLE tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, subscriber TEXT NOT NULL, scopes TEXT NOT NULL,
        digest BLOB NOT NULL, created INTEGER NOT NULL, expires INTEGER
    );
    CREATE TABLE audit (ts INTEGER NOT NULL, principal TEXT NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL);
    """,
)

SCHEMA = Schema("chat", storage_error, MIGRATIONS, "user_version", local_only=True)


class SqliteStore(SmallTables):
    """Messages, receipts and tokens in one file; one writer thread, several readers."""

    def __init__(self, file: SqliteFile, watcher: CommitWatcher, clock: Clock) -> None:
        super().__init__(file, "", clock)
        self._file = file
        self._watcher = watcher

    @classmethod
    async def open(cls, path: Path, *, poll: float = 0.025, clock: Clock = now_us) -> "SqliteStore":
        """Create or open the file.

        Raises:
            ChatError: the file cannot be used.
        """

        def connect() -> SqliteStore:
            file = SqliteFile(path, SCHEMA)
            return cls(file, CommitWatcher(path, file.wakeup, poll), clock)

        return await to_thread.run_sync(connect)

    async def close(self) -> None:
        self._watcher.close()
        await close_database(self._file)

    async def append(self, post: Post) -> Sequence[Posted]:
        posted = await self._file.durable(lambda connection: append(connection, post, self._clock))
        self._watcher.wake()
        return posted

    async def since(self, query: Query) -> Page:
        return await self._file.read(lambda connection: since(connection, query))

    async def advance(self, query: Query, subscriber: str, number: int) -> Page:
        stage = f"{MARK}{subscriber}"
        if number == 0:
            return await self._file.read(lambda connection: after_mark(connection, query, stage))
        return await self._file.durable(lambda connection: advance(connection, query, stage, number))

    async def newest(self, conversation: str, limit: int, max_bytes: int) -> Window:
        return await self.before(conversation, 2**63 - 1, limit, max_bytes)

    async def before(self, conversation: str, before: int, limit: int, max_bytes: int) -> Window:
        return await self._file.read(lambda connection: before_id(connection, conversation, before, limit, max_bytes))

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
        await self._file.lazy(lambda connection: connection.execute(_REACHED, (conversation, stage, number)))
        self._watcher.wake()

    async def audit(self, principal: str, action: str, detail: str) -> None:
        row = (self._clock(), principal, action, detail)
        await self._file.lazy(lambda connection: connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?)", row))

    async def backup(self, target: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with closing(new_backup(Path(target))) as into:
                connection.backup(into)

        await self._file.read(write)

    async def restore(self, source: str) -> None:
        await self._file.durable(lambda connection: _restore(connection, Path(source)))
        self._watcher.wake()

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next commit by any process, False after `limit` seconds."""
        return await self._watcher.changed(limit, closely=closely)


_FIND = "SELECT key, head FROM conversations WHERE name = ?"
_START = "INSERT INTO conversations (name, head, user_head) VALUES (?, 0, 0)"
_MOVE = "UPDATE conversations SET head = ?, user_head = CASE WHEN ? THEN ? ELSE user_head END WHERE key = ?"
_INSERT = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_REACHED = "INSERT INTO receipts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET id = max(id, excluded.id)"
_EARLIER = "SELECT id, ts FROM messages WHERE conversation = ? AND principal = ? AND client_id = ?"

_AFTER = (
    "SELECT id, ts, author, mime, content, client_id, principal FROM messages "
    "WHERE conversation = ? AND id > ? ORDER BY id LIMIT ?"
)

_BEFORE = (
    "SELECT id, ts, author, mime, content, client_id, principal FROM messages "
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
    with _snapshot(connection):
        return _page(connection, query)


def after_mark(connection: sqlite3.Connection, query: Query, stage: str) -> Page:
    """Return the page after a subscriber's mark, both from the same snapshot."""
    with _snapshot(connection):
        return _page(connection, replace(query, after=_mark(connection, query.conversation, stage)))


def advance(connection: sqlite3.Connection, query: Query, stage: str, number: int) -> Page:
    """Move a subscriber's mark and return the page after it; the caller holds the write transaction."""
    connection.execute(_REACHED, (query.conversation, stage, number))
    return _page(connection, replace(query, after=_mark(connection, query.conversation, stage)))


@contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def _page(connection: sqlite3.Connection, query: Query) -> Page:
    found = connection.execute(_FIND, (query.conversation,)).fetchone()
    if found is None:
        return Page((), query.after, None)
    most = query.limit + 1 if query.authors is None else LOOKED_AT
    rows = connection.execute(_AFTER, (found[0], query.after, most))
    messages, last = taken((Message(*row) for row in rows), query)
    return Page(messages, last, found[1])


def _mark(connection: sqlite3.Connection, conversation: str, stage: str) -> int:
    row = connection.execute("SELECT id FROM receipts WHERE conversation = ? AND stage = ?", (conversation, stage))
    return next((int(number) for (number,) in row), 0)


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


COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "conversations": "name, head, user_head",
        "messages": "conversation, id, ts, author, principal, mime, content, client_id",
        "receipts": "conversation, stage, id",
        "tokens": "id, name, subscriber, scopes, digest, created, expires",
        "audit": "ts, principal, action, detail",
    }
)
"""The rows of a backup by table; they refer to conversations by name, because the keys differ between databases."""

_MESSAGES = (
    "SELECT c.name, m.id, m.ts, m.author, m.principal, m.mime, m.content, m.client_id "
    "FROM messages m JOIN conversations c ON c.key = m.conversation ORDER BY c.key, m.id"
)


def new_backup(path: Path) -> sqlite3.Connection:
    """Create the empty file of a backup and open it.

    Raises:
        ChatError: the file exists, or cannot be written.
    """
    if path.exists():
        raise ChatError(f"{path} exists; name a new file", "invalid_argument", path=str(path))
    return prepare(path, SCHEMA)


def add_to_backup(connection: sqlite3.Connection, table: str, rows: Rows) -> None:
    """Insert rows into a table; the caller holds the transaction."""
    columns = COLUMNS[table]
    marks = ["?"] * len(columns.split())
    if table == "messages":
        marks[0] = "(SELECT key FROM conversations WHERE name = ?)"
    connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({', '.join(marks)})", rows)  # noqa: S608


def _restore(connection: sqlite3.Connection, source: Path) -> None:
    """Copy a backup into an empty store; the caller holds the write transaction.

    Raises:
        ChatError: the store is not empty, or the file is not a backup.
    """
    refuse_unless_empty(connection.execute("SELECT count(*) FROM messages").fetchone()[0])
    for name in ("conversations", "receipts", "tokens", "audit"):
        connection.execute(f"DELETE FROM {name}")  # noqa: S608 - our own names
    for table, rows in read_backup(source):
        add_to_backup(connection, table, rows)


def refuse_unless_empty(messages: int) -> None:
    """Refuse to restore into a store with messages: messages are final, so two logs cannot be merged.

    Raises:
        ChatError: `messages` is not 0.
    """
    if messages:
        message = f"The store holds {messages} messages; restore into an empty one (another --dir or storage.url)"
        raise ChatError(message, "invalid_argument")


def read_backup(source: Path) -> Iterator[tuple[str, Rows]]:
    """Yield the rows of a backup as (table, rows), at most `BATCH` rows at a time.

    Raises:
        ChatError: the file is not a backup, or was written by a newer version.
    """
    with _open_copy(source) as connection:
        for table, columns in COLUMNS.items():
            found = connection.execute(_MESSAGES if table == "messages" else f"SELECT {columns} FROM {table}")  # noqa: S608
            while rows := found.fetchmany(BATCH):
                yield table, rows


@contextmanager
def _open_copy(source: Path) -> Iterator[sqlite3.Connection]:
    _require_backup(source)
    with tempfile.TemporaryDirectory() as folder:
        # `prepare` migrates an older schema; the original file must not change.
        copy = Path(folder) / "backup.db"
        shutil.copyfile(source, copy)
        with closing(prepare(copy, SCHEMA)) as connection:
            yield connection


def _require_backup(source: Path) -> None:
    try:
        with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT name, head, user_head FROM conversations LIMIT 1")
    except sqlite3.Error as error:
        raise ChatError(f"{source} is not a backup of a chat: {error}", "invalid_argument", path=str(source)) from error
