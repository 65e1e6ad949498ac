"""The journal in one SQLite file, which several processes may open; one of them holds the lease."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from ui_mcp.agent.journal import AgentSummary, Journal, Lease, NewEvent, is_gone
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import AgentError, ConfigError, JournalError, LeaseLostError, hint
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.storage.database import MISSING_DRIVER

T = TypeVar("T")

SCHEMA = """
CREATE TABLE events (
    agent TEXT NOT NULL, id INTEGER NOT NULL, ts TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
    message_id TEXT, PRIMARY KEY (agent, id), UNIQUE (agent, message_id)
) WITHOUT ROWID;
CREATE TABLE watermarks (agent TEXT PRIMARY KEY, last_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE leases (
    agent TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""


class SqliteJournal:
    """A journal whose commits are durable when a call returns."""

    def __init__(self, file: Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = file
        self._clock = clock
        self._one_at_a_time = CapacityLimiter(1)
        self._opened: sqlite3.Connection | None = None

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        def work(database: sqlite3.Connection) -> Lease | None:
            now = self._clock().timestamp()
            row = database.execute("SELECT holder, fence, until FROM leases WHERE agent = ?", (agent,)).fetchone()
            if row and row[0] != holder and row[2] > now and not is_gone(row[0]):
                return None
            fence = (row[1] if row[0] == holder else row[1] + 1) if row else 1
            database.execute("REPLACE INTO leases VALUES (?, ?, ?, ?)", (agent, holder, fence, now + seconds))
            return Lease(holder, fence)

        return await self._run(work)

    async def drop_lease(self, agent: str, lease: Lease) -> None:
        def work(database: sqlite3.Connection) -> None:
            database.execute(
                "UPDATE leases SET until = 0 WHERE agent = ? AND holder = ? AND fence = ?",
                (agent, lease.holder, lease.fence),
            )

        await self._run(work)

    async def append(self, agent: str, lease: Lease, events: Sequence[NewEvent]) -> list[StoredEvent]:
        def work(database: sqlite3.Connection) -> list[StoredEvent]:
            _check_lease(database, agent, lease)
            return [self._store(database, agent, event.type, event.data, None) for event in events]

        return await self._run(work)

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        def work(database: sqlite3.Connection) -> list[StoredEvent]:
            _check_lease(database, agent, lease)
            known = {
                row[0]
                for message in messages
                for row in database.execute(
                    "SELECT message_id FROM events WHERE agent = ? AND message_id = ?", (agent, message["message_id"])
                )
            }
            stored = [
                self._store(database, agent, "user_text", message, message["message_id"])
                for message in messages
                if message["message_id"] not in known
            ]
            database.execute("REPLACE INTO watermarks VALUES (?, ?)", (agent, watermark))
            return stored

        return await self._run(work)

    async def watermark(self, agent: str) -> str | None:
        def work(database: sqlite3.Connection) -> str | None:
            row = database.execute("SELECT last_id FROM watermarks WHERE agent = ?", (agent,)).fetchone()
            return row[0] if row else None

        return await self._run(work)

    async def events(self, agent: str, after: int = 0) -> list[StoredEvent]:
        def work(database: sqlite3.Connection) -> list[StoredEvent]:
            rows = database.execute(
                "SELECT id, ts, type, data FROM events WHERE agent = ? AND id > ? ORDER BY id", (agent, after)
            )
            return [StoredEvent(row[0], row[1], row[2], loads(row[3])) for row in rows]

        return await self._run(work)

    async def list_agents(self) -> list[AgentSummary]:
        def work(database: sqlite3.Connection) -> list[AgentSummary]:
            rows = database.execute(
                "SELECT agent, MIN(ts), MAX(ts), COUNT(*), (SELECT data FROM events AS said WHERE said.agent ="
                " events.agent AND said.type = 'user_text' ORDER BY said.id LIMIT 1) FROM events"
                " GROUP BY agent ORDER BY MAX(ts) DESC"
            )
            return [
                AgentSummary(row[0], loads(row[4])["text"] if row[4] else "", row[1], row[2], row[3]) for row in rows
            ]

        return await self._run(work)

    async def delete_agent(self, agent: str) -> bool:
        def work(database: sqlite3.Connection) -> bool:
            gone = database.execute("DELETE FROM events WHERE agent = ?", (agent,)).rowcount
            for table in ("watermarks", "leases"):
                database.execute(f"DELETE FROM {table} WHERE agent = ?", (agent,))  # noqa: S608  (our own names)
            return gone > 0

        return await self._run(work)

    async def close(self) -> None:
        if self._opened is not None:
            await to_thread.run_sync(self._opened.close, limiter=self._one_at_a_time)
            self._opened = None

    def _store(
        self, database: sqlite3.Connection, agent: str, kind: str, data: JsonObject, message_id: str | None
    ) -> StoredEvent:
        (last,) = database.execute("SELECT COALESCE(MAX(id), 0) FROM events WHERE agent = ?", (agent,)).fetchone()
        ts = self._clock().isoformat(timespec="microseconds").replace("+00:00", "Z")
        database.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (agent, last + 1, ts, kind, dumps(data), message_id)
        )
        return StoredEvent(last + 1, ts, kind, data)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def transaction() -> T:
            try:
                with _committed(self._database()) as database:
                    return work(database)
            except (OSError, sqlite3.Error) as error:
                message = f"Cannot use the journal {self._file}: {error}{hint(error)}"
                raise JournalError(message, file=str(self._file)) from error

        return await to_thread.run_sync(transaction, limiter=self._one_at_a_time)

    def _database(self) -> sqlite3.Connection:
        if self._opened is None:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file.touch(mode=0o600)
            opened = sqlite3.connect(self._file, timeout=10, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(opened)
            except BaseException:
                opened.close()
                raise
            self._opened = opened
        return self._opened

    def _prepare(self, opened: sqlite3.Connection) -> None:
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("PRAGMA synchronous = FULL")  # NORMAL may lose the last commits when power fails
        with _committed(opened) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > 1:
                raise AgentError(f"{self._file.name} was written by a newer ui-mcp; it is left alone")
            if version == 0:
                for statement in SCHEMA.split(";"):
                    database.execute(statement)


@contextmanager
def _committed(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    # IMMEDIATE: a deferred transaction fails if another process writes before it upgrades its lock.
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # after a disk error SQLite has already rolled back
            database.execute("ROLLBACK")
        raise


def _check_lease(database: sqlite3.Connection, agent: str, lease: Lease) -> None:
    row = database.execute("SELECT holder, fence FROM leases WHERE agent = ?", (agent,)).fetchone()
    if row != (lease.holder, lease.fence):
        raise LeaseLostError(f"Another orchestrator runs agent {agent!r} now; this one stops", agent=agent)


FILE = "agent.db"


def journal_for(url: str | None, folder: Path) -> Journal:
    """Return the journal beside a chat at `url`.

    Raises:
        ConfigError: the driver is missing.
    """
    if not _is_postgres(url):
        return SqliteJournal(folder / FILE)
    try:
        from ui_mcp.agent.journal_postgres import PostgresJournal
    except ImportError as error:
        raise ConfigError(MISSING_DRIVER) from error
    return PostgresJournal(str(url))


def _is_postgres(url: str | None) -> bool:
    return url is not None and url.startswith(("postgresql:", "postgres:"))
