"""PostgreSQL: pool, connect with back-off, LISTEN/NOTIFY, ping."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import anyio
from psycopg import AsyncConnection, Connection, Error, OperationalError, connect, conninfo

from ui_mcp.errors import ChatError, GatewayError
from ui_mcp.jsontypes import Json
from ui_mcp.log import logger
from ui_mcp.storage.database import POLL_SECONDS, Schema


class PostgresDatabase:
    """One connection, made anew when it was cut; work happens in a worker thread."""

    def __init__(self, url: str, schema: Schema) -> None:
        self._url = url
        self._lock = Lock()
        try:
            self._connection: Connection[Any] = connect(url, autocommit=True, connect_timeout=10)
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (schema.lock,))
                for statement in schema.statements:
                    self._connection.execute(statement.encode())
                for name, value in schema.added.items():
                    added = f"ALTER TABLE {schema.table} ADD COLUMN IF NOT EXISTS {name} TEXT DEFAULT {value}"
                    self._connection.execute(added.encode())
        except Error as error:
            raise GatewayError(f"The approvals database cannot be reached: {_error_text(error)}") from error

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def listen(self) -> float:
        """Nobody tells: look often."""
        return POLL_SECONDS

    async def wait_notified(self) -> None:
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
            raise GatewayError(f"The approvals database failed: {_error_text(error)}") from error

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


def _error_text(error: Error) -> str:
    # The driver's texts name host and user but never the password.
    return next(iter(str(error).splitlines()), type(error).__name__)


_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
_log = logger("chat")


# What waiting does not mend; a failed connection brings only its text.
_HOPELESS = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist")


async def with_retry(url: str, work: Callable[[AsyncConnection[Any]], Awaitable[None]], *, patience: float) -> None:
    """Connect and do `work`, again and again with growing pauses while the database cannot be reached.

    Raises:
        ChatError: it could not be reached in time, or refuses us.
    """
    deadline, pause = anyio.current_time() + patience, _FIRST_PAUSE
    while True:
        try:
            async with await AsyncConnection.connect(url, autocommit=True, **_limits(url)) as connection:
                await work(connection)
                return
        except OperationalError as error:
            reason = " ".join(str(error).split())
            if anyio.current_time() + pause > deadline or any(word in reason for word in _HOPELESS):
                raise ChatError(f"Cannot open the chat database {shown(url)}: {reason}", "storage_error") from error
            _log.warning(
                "The chat database %s cannot be reached, trying again in %.1f s: %s", shown(url), pause, reason
            )
        except Error as error:
            raise ChatError(f"Cannot open the chat database {shown(url)}: {error}", "storage_error") from error
        await anyio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def shown(url: str) -> str:
    """Return the URL without its password."""
    parts = urlsplit(url)
    user, _, place = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    query = "&".join(part for part in parts.query.split("&") if not part.startswith("password="))
    return urlunsplit(parts._replace(netloc=f"{name}@{place}" if name else place, query=query))


def _limits(url: str) -> dict[str, Any]:
    # A host that swallows packets must not eat the whole patience; a limit in the URL wins.
    return {} if "connect_timeout" in conninfo.conninfo_to_dict(url) else {"connect_timeout": 10}


_SECONDS = 4


async def server_version(url: str) -> str:
    """Connect and return the version of the server.

    Raises:
        ChatError: it cannot be reached or lets us not in; the message never holds the password.
    """
    try:
        async with await AsyncConnection.connect(url, connect_timeout=_SECONDS) as connection:
            row = await (await connection.execute("show server_version")).fetchone()
    except Error as error:
        said = str(error).strip().splitlines() or ["no answer"]
        raise ChatError(said[-1].strip(), "storage_error") from error
    return str(row[0]) if row else "of unknown version"
