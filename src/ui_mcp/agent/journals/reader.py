"""Reads the journal of another process: never writes, never waits for a lock, and looks only when something changed."""

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

from anyio import CapacityLimiter, to_thread

from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import AgentError
from ui_mcp.jsontypes import loads


class Reader(Protocol):
    """What an agent in another process writes."""

    @property
    def served(self) -> bool:
        """Whether an agent holds the lease."""
        ...

    async def news(self) -> list[StoredEvent]:
        """Return the events since the last call.

        Raises:
            AgentError: they cannot be read.
        """
        ...


class JournalReader:
    """The events of one agent; a file that is not there yet has none."""

    def __init__(self, file: Path, agent: str) -> None:
        self._file = file
        self._agent = agent
        self._one_at_a_time = CapacityLimiter(1)
        self._stamp: tuple[int, ...] = ()
        self._last = 0
        self._leased_until = 0.0

    @property
    def served(self) -> bool:
        """Whether an agent holds the lease."""
        return self._leased_until > time.time()

    async def news(self) -> list[StoredEvent]:
        """Return the events since the last call.

        Raises:
            AgentError: the file cannot be read.
        """
        return await to_thread.run_sync(self._news, limiter=self._one_at_a_time)

    def _news(self) -> list[StoredEvent]:
        stamp = _stamp(self._file)
        if not stamp or stamp == self._stamp:
            return []
        try:
            with closing(sqlite3.connect(f"{self._file.resolve().as_uri()}?mode=ro", uri=True, timeout=1)) as database:
                events = self._events(database)
        except sqlite3.Error as error:
            raise AgentError(f"Cannot read the journal {self._file.name}: {error}", file=str(self._file)) from error
        self._stamp = stamp
        self._last = events[-1].id if events else self._last
        return events

    def _events(self, database: sqlite3.Connection) -> list[StoredEvent]:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'leases'").fetchone():
            return []
        lease = database.execute("SELECT until FROM leases WHERE agent = ?", (self._agent,)).fetchone()
        self._leased_until = lease[0] if lease else 0.0
        rows = database.execute(
            "SELECT id, ts, type, data FROM events WHERE agent = ? AND id > ? ORDER BY id", (self._agent, self._last)
        )
        return [StoredEvent(row[0], row[1], row[2], loads(row[3])) for row in rows]


def _stamp(file: Path) -> tuple[int, ...]:
    """Return what differs after every commit: times and sizes of the file and of its log."""
    found: list[int] = []
    for path in (file, file.with_name(f"{file.name}-wal")):
        with suppress(FileNotFoundError):  # the log goes with the last who had the file open
            stat = path.stat()
            found += (stat.st_mtime_ns, stat.st_size)
    return tuple(found)
