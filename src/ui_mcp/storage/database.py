"""The Database protocol, which SQLite and PostgreSQL implement, and opening one by its path or URL."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from anyio import CancelScope, to_thread

from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json
from ui_mcp.storage.schema import Schema, T, Transaction
from ui_mcp.storage.sqlite import SqliteFile

INSTALL_DRIVER = "pip install 'psycopg[binary]' psycopg-pool"


class Closeable(Protocol):
    def close(self) -> None: ...


async def close_database(database: Closeable) -> None:
    """Close a database, also in a task that is being cancelled; the writer's last commit may take a while."""
    with CancelScope(shield=True):
        await to_thread.run_sync(database.close)


class Database(Protocol):
    """SQL that both SQLite and PostgreSQL understand; `?` stands for a value. Changes are durable when a call returns.

    Every method raises the error of the store's schema if the database fails.
    """

    async def change(self, statement: str, values: Sequence[Json] = ()) -> int:
        """Execute and commit a statement and return the number of rows it changed."""
        ...

    async def rows(self, statement: str, values: Sequence[Json] = ()) -> list[tuple[Any, ...]]: ...

    async def transaction(self, work: Callable[[Transaction], T], *, durable: bool = True) -> T:
        """Run `work` in a worker thread and commit what it did, or nothing if it raises; it may be run again.

        Unless `durable`, a power cut may undo it; a crash of this process does not.
        """
        ...

    def listen(self) -> float:
        """Start listening for changes by other processes; return for how many seconds one wait may rely on it."""
        ...

    async def wait_notified(self) -> None:
        """Return when another process has changed something."""
        ...

    def close(self) -> None: ...


def open_database(place: str, sqlite: Schema, postgres: Schema) -> Database:
    """Open the database at a path, `sqlite:///PATH` or `postgresql://…`; a file is created when missing.

    Raises:
        ConfigError: the URL has an unknown scheme, or its driver is missing.
        UiMcpError: the error of the schema, if the database cannot be opened.
    """
    file = file_of(place)
    if file is not None:
        return SqliteFile(file, sqlite)
    with postgres_driver():
        from ui_mcp.storage.postgres import PostgresDatabase
    return PostgresDatabase(place, postgres)


def file_of(place: str) -> Path | None:
    """Return the file that a path or an `sqlite:` URL means, None for a PostgreSQL URL.

    Raises:
        ConfigError: the URL has an unknown scheme.
    """
    if place.startswith(("postgresql:", "postgres:")):
        return None
    if place.startswith("sqlite:"):
        place = unquote(place.removeprefix("sqlite:///"))
    elif "://" in place:
        scheme = urlsplit(place).scheme
        raise ConfigError(f"storage.url {scheme}://… is neither a path, sqlite:///PATH nor postgresql://…")
    return Path(place).expanduser()


@contextmanager
def postgres_driver() -> Iterator[None]:
    """Import modules that need the PostgreSQL driver.

    Raises:
        ConfigError: the driver is missing.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"storage.url needs the PostgreSQL driver: {INSTALL_DRIVER}") from error
