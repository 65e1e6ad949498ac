"""Database protocol, schemas, and the SQLite database."""

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import anyio.to_thread

from ui_mcp.errors import GatewayError, hint
from ui_mcp.jsontypes import Json
from ui_mcp.storage.wakeup import WakeupPipe

MISSING_DRIVER = "storage.url needs the PostgreSQL driver: pip install 'psycopg[binary]' psycopg-pool"
NET_SECONDS, POLL_SECONDS = 10.0, 0.25
"""How long a gateway goes without looking where it is told of changes, and where it is not."""


def file_of(place: str) -> Path:
    """Return the file a path or an `sqlite:` URL means."""
    return Path(unquote(place.removeprefix("sqlite:///")) if place.startswith("sqlite:") else place).expanduser()


@dataclass(frozen=True, slots=True)
class Schema:
    """What a database has to hold, in statements that both SQLite and PostgreSQL take."""

    statements: Sequence[str]
    table: str
    """The table that has grown since its first version."""
    added: Mapping[str, str]
    """Columns of that table that older databases lack, with the value of older rows."""
    lock: int
    """Key of the PostgreSQL advisory lock that is held while the schema changes."""
    opened: Callable[[sqlite3.Connection, Path], None]
    """Called with every SQLite file that was opened."""


class Database(Protocol):
    """A database: each statement commits by itself; `?` stands for a value."""

    async def change(self, statement: str, values: Sequence[Json]) -> int:
        """Carry out a statement and count the rows it touched."""
        ...

    async def rows(self, statement: str, values: Sequence[Json]) -> list[tuple[Any, ...]]:
        """Return what a statement finds."""
        ...

    def listen(self) -> float:
        """Be told of other processes' changes from now on; return for how long to rely on that."""
        ...

    async def wait_notified(self) -> None:
        """Return when another process has changed something."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


class SqliteDatabase:
    """One SQLite file in WAL mode, mode 0600; work happens in a worker thread."""

    def __init__(self, file: Path, schema: Schema) -> None:
        self._file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600, exist_ok=True)
            self._base = sqlite3.connect(file, timeout=10, isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            for statement in schema.statements:
                self._base.execute(statement)
            known = {row[1] for row in self._base.execute(f"PRAGMA table_info({schema.table})")}
            for name, value in schema.added.items():
                if name not in known:
                    self._base.execute(f"ALTER TABLE {schema.table} ADD COLUMN {name} TEXT DEFAULT {value}")
            schema.opened(self._base, file)
        except (OSError, sqlite3.Error) as error:
            raise GatewayError(f"The approvals store {file} cannot be opened: {error}{hint(error)}") from error
        self._lock = threading.Lock()
        real = file.resolve()
        self._bell = WakeupPipe(real.with_name(f"{real.name}-bells"))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()
        self._bell.close()

    def listen(self) -> float:
        """Hang up a bell for others to ring; where there is none, looking often is all that is left."""
        return NET_SECONDS if self._bell.listen() else POLL_SECONDS

    async def wait_notified(self) -> None:
        """Return when another process has rung."""
        await self._bell.wait()

    async def change(self, statement: str, values: Sequence[Json]) -> int:
        """Carry out a statement, count the rows it touched, and tell the other processes."""
        touched = (await self._do(statement, values))[0]
        self._bell.wake_others()
        return touched

    async def rows(self, statement: str, values: Sequence[Json]) -> list[tuple[Any, ...]]:
        """Return what a statement finds."""
        return (await self._do(statement, values))[1]

    async def _do(self, statement: str, values: Sequence[Json]) -> tuple[int, list[tuple[Any, ...]]]:
        def work() -> tuple[int, list[tuple[Any, ...]]]:
            with self._lock:
                cursor = self._base.execute(statement, values)
                return cursor.rowcount, cursor.fetchall()

        try:
            return await anyio.to_thread.run_sync(work)
        except sqlite3.Error as error:
            raise GatewayError(f"The approvals store {self._file} failed: {error}{hint(error)}") from error
