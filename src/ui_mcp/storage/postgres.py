"""Approvals in PostgreSQL, for people and gateways on several machines."""

from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

import anyio
from psycopg import Connection, Error, OperationalError, connect

from ui_mcp.errors import CompositorError
from ui_mcp.gateway.approvals.store import ADDED, SCHEMA
from ui_mcp.jsontypes import Json
from ui_mcp.storage.database import POLL_SECONDS

_SCHEMA_LOCK = 7_155_091_642_119


class PostgresBase:
    """One connection, made anew when it was cut; work happens in a worker thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        try:
            self._connection: Connection[Any] = connect(url, autocommit=True, connect_timeout=10)
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
                for statement in SCHEMA:
                    self._connection.execute(statement.encode())
                for name, value in ADDED.items():
                    added = f"ALTER TABLE approvals ADD COLUMN IF NOT EXISTS {name} TEXT DEFAULT {value}"
                    self._connection.execute(added.encode())
        except Error as error:
            raise CompositorError(f"The approvals database cannot be reached: {_told(error)}") from error

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def listen(self) -> float:
        """Nobody tells: look often."""
        return POLL_SECONDS

    async def told(self) -> None:
        """Nobody tells."""
        await anyio.sleep_forever()

    async def change(self, statement: str, values: Sequence[Json]) -> int:
        """Carry out a statement and count the rows it touched."""
        return (await self._do(statement, values, again=False))[0]

    async def rows(self, statement: str, values: Sequence[Json]) -> list[tuple[Any, ...]]:
        """Return what a statement finds."""
        return (await self._do(statement, values, again=True))[1]

    async def _do(self, statement: str, values: Sequence[Json], *, again: bool) -> tuple[int, list[tuple[Any, ...]]]:
        try:
            return await anyio.to_thread.run_sync(self._work, statement.replace("?", "%s").encode(), values, again)
        except Error as error:
            raise CompositorError(f"The approvals database failed: {_told(error)}") from error

    def _work(self, statement: bytes, values: Sequence[Json], again: bool) -> tuple[int, list[tuple[Any, ...]]]:
        with self._lock:
            if self._connection.closed:
                self._connect()
            try:
                return self._execute(statement, values)
            except OperationalError:
                # Whether a change arrived before the cut is unknown, so only reading is repeated.
                with suppress(Error):
                    self._connect()
                if not again:
                    raise
                return self._execute(statement, values)

    def _execute(self, statement: bytes, values: Sequence[Json]) -> tuple[int, list[tuple[Any, ...]]]:
        cursor = self._connection.execute(statement, tuple(values))
        return cursor.rowcount, cursor.fetchall() if cursor.description else []

    def _connect(self) -> None:
        self._connection.close()
        self._connection = connect(self._url, autocommit=True, connect_timeout=10)


def _told(error: Error) -> str:
    # The driver's texts name host and user but never the password.
    return next(iter(str(error).splitlines()), type(error).__name__)
