"""What a package says about its store: the tables, and how failures of the database become its own errors."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import Json
from ui_mcp.lazy_dataclass import dataclass

T = TypeVar("T")
Failure = Literal["busy", "failed", "newer"]
"""`busy`: trying again may help; `newer`: a newer version of this program wrote the store."""


class MakeError(Protocol):
    """Makes the error that the owner of a store raises."""

    def __call__(self, failure: Failure, message: str, **details: object) -> UiMcpError: ...


class Cursor(Protocol):
    @property
    def rowcount(self) -> int: ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...


class Transaction(Protocol):
    """Executes statements inside one transaction; `?` stands for a value. A connection of SQLite is one."""

    def execute(self, statement: str, values: Sequence[Json] = (), /) -> Cursor: ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Json]], /) -> object: ...


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one store in one database."""

    name: str
    """Names the store in messages, as in "the chat store"."""
    error: MakeError
    migrations: Sequence[str]
    """SQL scripts, oldest first."""
    version: str = ""
    """Where the number of executed scripts is recorded: a pragma in SQLite, a table in PostgreSQL.

    Empty: it is not recorded; the scripts are executed at every opening and must allow that.
    """
    added: Sequence[tuple[str, str, str]] = ()
    """Table, name and type of columns that older stores without a recorded version may lack."""
    lock: int = 0
    """Key of the PostgreSQL advisory lock that is held while the schema changes."""
    local_only: bool = False
    """Refuse SQLite files on network disks."""
    opened: Callable[[Transaction, Path], None] | None = None
    """Called in the migrating transaction of every SQLite file that is opened."""

    def pending(self, version: int, place: str) -> Sequence[str]:
        """Return the scripts that a store of this version still needs; `place` names it in messages.

        Raises:
            UiMcpError: the version is unknown.
        """
        if version > len(self.migrations):
            message = f"{place} was written by a newer ui-mcp (schema {version}); update this one"
            raise self.error("newer", message, schema=version)
        return self.migrations[version:]
