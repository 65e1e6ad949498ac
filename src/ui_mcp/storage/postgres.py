"""PostgreSQL: connections with back-off, migrations, a pool, and wake-ups by LISTEN and NOTIFY."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from threading import Lock
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import anyio
from anyio import CapacityLimiter, to_thread
from psycopg import AsyncConnection, Connection, Cursor, Error, OperationalError, connect, conninfo
from psycopg.errors import IdleInTransactionSessionTimeout
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import Json
from ui_mcp.log import logger
from ui_mcp.processes import in_daemon_thread
from ui_mcp.storage.schema import Schema, T, Transaction
from ui_mcp.storage.wakeup import POLL_SECONDS

_log = logger("storage")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
_VERSION_SECONDS, _RECONNECT_SECONDS = 4, 0.5
_POOL_SIZE = 8
# A host that drops packets, or has vanished, must not use up all the time of the caller; what the URL says wins.
_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
IDLE_SECONDS, LOCK_SECONDS = 10, 20
"""How long a transaction may rest, and another wait for what it has locked: a process that is frozen, or whose host has
vanished, would keep its locks and no other could take over from it."""
UNLIMITED = b"SET LOCAL idle_in_transaction_session_timeout = 0"
"""For a transaction that waits for a disk."""
_CUT = (OperationalError, IdleInTransactionSessionTimeout)
"""Errors that leave no usable connection."""

_HAS_COLUMN = "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s AND NOT attisdropped"
_HOPELESS = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist")
"""Errors that waiting does not remove; a failed connection brings only its text."""


def prepare(url: str, schema: Schema) -> Connection[Any]:
    """Connect and bring the database to the newest schema.

    Raises:
        psycopg.Error: the database cannot be reached, or refuses.
        UiMcpError: the database has a newer schema.
    """
    connection = _connect(url)
    try:
        with connection.transaction():
            _migrate(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: Connection[Any], schema: Schema) -> None:
    # The lock serialises processes that start together.
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (schema.lock,))
    version = 0
    if schema.version:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {schema.version} (version integer NOT NULL)".encode())
        row = connection.execute(f"SELECT max(version) FROM {schema.version}".encode()).fetchone()  # noqa: S608 - ours
        version = row[0] or 0 if row else 0
    pending = schema.pending(version, f"The {schema.name} database")
    for script in pending:
        connection.execute(script.encode())
    if schema.version and pending:
        connection.execute(f"DELETE FROM {schema.version}".encode())  # noqa: S608 - our own name
        connection.execute(f"INSERT INTO {schema.version} VALUES (%s)".encode(), (len(schema.migrations),))  # noqa: S608
    for table, column, kind in schema.added:
        # ALTER would wait for every reader, such as a backup, even if there is nothing to add.
        if not connection.execute(_HAS_COLUMN, (table, column)).fetchall():
            connection.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column} {kind}".encode())


async def prepare_with_retry(url: str, schema: Schema, *, connect_timeout: float) -> None:
    """Bring the database to the newest schema; retry with growing pauses while it cannot be reached.

    Raises:
        UiMcpError: it could not be reached in time, refuses us, or has a newer schema.
    """
    deadline, pause = anyio.current_time() + connect_timeout, _FIRST_PAUSE
    while True:
        try:
            # A daemon thread: an attempt that hangs must not delay the end of the process.
            await in_daemon_thread(lambda: prepare(url, schema).close())
            return
        except Error as error:
            hopeless = not isinstance(error, OperationalError) or any(word in str(error) for word in _HOPELESS)
            if hopeless or anyio.current_time() + pause > deadline:
                message = f"Cannot open the {schema.name} database {shown(url)}: {_reason(error)}"
                raise schema.error("failed", message) from error
            text = "The %s database %s cannot be reached, trying again in %.1f s: %s"
            _log.warning(text, schema.name, shown(url), pause, _reason(error))
        await anyio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _connect(url: str) -> Connection[Any]:
    connection = connect(_patient(url), autocommit=True)
    connection.execute(_limits())
    return connection


def _patient(url: str) -> str:
    given = conninfo.conninfo_to_dict(url)
    return conninfo.make_conninfo(url, **{name: value for name, value in _PATIENCE.items() if name not in given})


def _limits() -> bytes:
    limits = f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'; SET lock_timeout = '{LOCK_SECONDS}s'"
    return limits.encode()


async def _limit(connection: AsyncConnection[Any]) -> None:
    await connection.execute(_limits())
    await connection.commit()


def shown(url: str) -> str:
    """Return the URL without its password."""
    parts = urlsplit(url)
    user, _, place = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    query = "&".join(part for part in parts.query.split("&") if not part.startswith("password="))
    return urlunsplit(parts._replace(netloc=f"{name}@{place}" if name else place, query=query))


def _reason(error: Exception) -> str:
    # The driver's texts name host and user but never the password.
    return " ".join(str(error).split()) or type(error).__name__


def _error(schema: Schema, error: Exception) -> UiMcpError:
    """Turn an error of the driver into one of the store."""
    if isinstance(error, (*_CUT, PoolTimeout)):
        return schema.error("busy", f"The {schema.name} database cannot be reached; try again: {_reason(error)}")
    return schema.error("failed", f"The {schema.name} database failed: {_reason(error)}")


async def server_version(url: str) -> str:
    """Connect and return the version of the server.

    Raises:
        UiMcpError: it cannot be reached, or refuses us; the message never holds the password.
    """
    try:
        async with await AsyncConnection.connect(url, connect_timeout=_VERSION_SECONDS) as connection:
            row = await (await connection.execute("show server_version")).fetchone()
    except Error as error:
        lines = str(error).strip().splitlines() or ["no answer"]
        raise UiMcpError(lines[-1].strip()) from error
    return str(row[0]) if row else "of unknown version"


@cache
def _native(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()


class PostgresPool:
    """Connections for concurrent work, and one that listens to a channel."""

    def __init__(self, url: str, schema: Schema, channel: str, pool: AsyncConnectionPool) -> None:
        self._url = url
        self._schema = schema
        self._channel = channel
        self._pool = pool
        self._listener: AsyncConnection[Any] | None = None

    @classmethod
    async def open(cls, url: str, schema: Schema, channel: str, *, connect_timeout: float) -> "PostgresPool":
        """Connect, with retries for `connect_timeout` seconds, and bring the database to the newest schema.

        Raises:
            UiMcpError: the server cannot be reached, or the database has a newer schema.
        """
        await prepare_with_retry(url, schema, connect_timeout=connect_timeout)
        pool = AsyncConnectionPool(
            _patient(url), min_size=1, max_size=_POOL_SIZE, open=False, timeout=10.0, configure=_limit
        )
        try:
            await pool.open(wait=True, timeout=connect_timeout)
        except PoolTimeout as error:
            await pool.close()
            message = f"The {schema.name} database {shown(url)} gives us no connection"
            raise schema.error("failed", message) from error
        return cls(url, schema, channel, pool)

    async def close(self) -> None:
        await self._drop_listener()
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Lend a connection in a transaction, which is committed at the end of the block."""
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (Error, PoolTimeout) as error:
            raise _error(self._schema, error) from error

    async def change(self, statement: str, values: Sequence[object] = ()) -> int:
        async with self.connection() as connection:
            return (await connection.execute(_native(statement), values)).rowcount

    async def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        async with self.connection() as connection:
            return await (await connection.execute(_native(statement), values)).fetchall()

    async def changed(self, limit: float) -> bool:
        """Return True after the next NOTIFY, or when listening has just begun; False after `limit` seconds."""
        try:
            if self._listener is None:
                self._listener = await self._listen()
                return True  # commits between the caller's last read and LISTEN sent no notification to us
            return bool([notice async for notice in self._listener.notifies(timeout=limit, stop_after=1)])
        except Error:
            await self._drop_listener()
            await anyio.sleep(min(limit, _RECONNECT_SECONDS))
        return False

    async def _listen(self) -> AsyncConnection[Any]:
        listener = await AsyncConnection.connect(_patient(self._url), autocommit=True)
        try:
            await listener.execute(f"LISTEN {self._channel}".encode())
        except BaseException:  # also on cancellation: a connection without LISTEN would never be notified
            await listener.close()
            raise
        return listener

    async def _drop_listener(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.close()


class _Transaction:
    """Statements with `?` on a connection."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Json] = ()) -> Cursor[Any]:
        return self._connection.execute(_native(statement), values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Json]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_native(statement), rows)


class PostgresDatabase:
    """One connection as a Database, reopened when it was cut; work happens in a worker thread."""

    def __init__(self, url: str, schema: Schema) -> None:
        self._url = url
        self._schema = schema
        self._one_at_a_time = CapacityLimiter(1)
        self._lock = Lock()
        try:
            self._connection = prepare(url, schema)
        except Error as error:
            raise _error(schema, error) from error

    async def change(self, statement: str, values: Sequence[Json] = ()) -> int:
        return await self._run(lambda found: found.execute(statement, values).rowcount)

    async def rows(self, statement: str, values: Sequence[Json] = ()) -> list[tuple[Any, ...]]:
        return await self._run(lambda found: found.execute(statement, values).fetchall(), retry=True)

    async def transaction(self, work: Callable[[Transaction], T], *, durable: bool = True) -> T:
        def commit(found: _Transaction) -> T:
            with self._connection.transaction():
                if not durable:
                    found.execute("SET LOCAL synchronous_commit TO off")
                return work(found)

        return await self._run(commit)

    def listen(self) -> float:
        return POLL_SECONDS  # nothing is announced to us

    async def wait_notified(self) -> None:
        await anyio.sleep_forever()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    async def _run(self, work: Callable[[_Transaction], T], *, retry: bool = False) -> T:
        try:
            return await to_thread.run_sync(self._in_thread, work, retry, limiter=self._one_at_a_time)
        except Error as error:
            raise _error(self._schema, error) from error

    def _in_thread(self, work: Callable[[_Transaction], T], retry: bool) -> T:
        with self._lock:
            if self._connection.closed:
                self._connection = _connect(self._url)
            try:
                return work(_Transaction(self._connection))
            except _CUT:
                # Whether a change arrived before the cut is unknown, so only reading is repeated.
                with suppress(Error):
                    self._connection.close()
                    self._connection = _connect(self._url)
                if not retry:
                    raise
                return work(_Transaction(self._connection))
