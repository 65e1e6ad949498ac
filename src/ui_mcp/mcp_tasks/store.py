"""Stores tasks in SQL, on SQLite or PostgreSQL, so that they outlive the process that began them."""

import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from typing import TYPE_CHECKING, Any, Literal

import anyio
from anyio import to_thread

from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.processes import pid_exists

if TYPE_CHECKING:
    from ui_mcp.storage.database import Database

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
KEPT_SECONDS = 86_400.0
"""How long a task is kept after its last change."""
POLL_MILLISECONDS = 1000
_COLUMNS = (
    "id, principal, connection, client, tool, arguments, checkpoint, status, message, outcome, asked, "
    "created_at, updated_at, owner"
)
_TABLE = """CREATE TABLE IF NOT EXISTS tasks (
  id TEXT PRIMARY KEY, principal TEXT, connection TEXT, client TEXT, tool TEXT, arguments TEXT, checkpoint TEXT,
  status TEXT, message TEXT, outcome TEXT, asked INTEGER, created_at DOUBLE PRECISION, updated_at DOUBLE PRECISION,
  owner TEXT)"""
"""Valid in both SQLite and PostgreSQL."""
_OPEN = "status IN ('working', 'input_required')"


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A row of the store; times are seconds since the epoch."""

    id: str
    principal: str
    connection: str
    client: JsonObject
    """Name and capabilities of the client."""
    tool: str
    arguments: JsonObject | None
    """Kept only for tools that may be repeated, since arguments may hold secrets."""
    created_at: float
    updated_at: float
    checkpoint: JsonObject | None = None
    status: Status = "working"
    message: str = ""
    outcome: JsonObject | None = None
    """`{"result": …}` or `{"error": …}` of a task that has ended, `{"inputRequests": …}` of one that asks."""
    asked: int = 0
    """How many questions the client was asked; their keys are never used again."""
    owner: str = ""
    """The process that runs it; see `new_owner`."""

    @property
    def is_over(self) -> bool:
        return self.status in {"completed", "failed", "cancelled"}

    @property
    def is_resumable(self) -> bool:
        """Whether another process can continue it."""
        return self.checkpoint is not None or self.arguments is not None

    def brief(self) -> JsonObject:
        """Return what `CreateTaskResult` says: the task without what has become of it."""
        said: JsonObject = {"statusMessage": self.message} if self.message else {}
        return {
            "taskId": self.id,
            "status": self.status,
            **said,
            "createdAt": _iso(self.created_at),
            "lastUpdatedAt": _iso(self.updated_at),
            "ttlMs": int((self.updated_at - self.created_at + KEPT_SECONDS) * 1000),
            "pollIntervalMs": POLL_MILLISECONDS,
        }

    def detailed(self) -> JsonObject:
        """Return what `tasks/get` and notifications say."""
        return {**self.brief(), **(self.outcome or {})}


def _iso(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"


def new_owner() -> str:
    """Return a name for a process by which others can tell whether it still runs."""
    return f"{os.getpid()}:{gethostname()}:{token_hex(8)}"


def owner_runs(owner: str, ours: str) -> bool:
    """Return whether the owner of a task may still run; on another host this is not known."""
    pid, _, rest = owner.partition(":")
    if not pid.isdigit():
        return False
    if rest.partition(":")[0] != gethostname():
        return True
    # In containers a restarted process often has the same id: only the token tells them apart.
    return owner == ours if int(pid) == os.getpid() else pid_exists(int(pid))


class TaskFile:
    """The SQLite file of a server that has no database of its own; opened with the first task."""

    def __init__(self, file: Callable[[], Path]) -> None:
        self._file = file
        self._open: tuple[Path, Database] | None = None
        self._opening = anyio.Lock()

    async def __call__(self) -> "Database":
        async with self._opening:
            wanted = self._file()
            if self._open is None or self._open[0] != wanted:  # the server may get another directory
                await self.close()
                self._open = wanted, await to_thread.run_sync(_open_file, wanted)
            return self._open[1]

    async def close(self) -> None:
        held, self._open = self._open, None
        if held is not None:
            await to_thread.run_sync(held[1].close)


def _open_file(file: Path) -> "Database":
    # Imported with the first task: most servers never have one.
    from ui_mcp.storage import database, schema

    def failed(failure: schema.Failure, message: str, **details: object) -> UiMcpError:
        return UiMcpError(message, failure=failure, **details)

    tables = schema.Schema("tasks", failed, (f"{_TABLE};",))
    return database.open_database(str(file), tables, tables)


class TaskStore:
    """The tasks of one database; several processes may share it."""

    def __init__(self, opened: Callable[[], Awaitable["Database"]]) -> None:
        self._opened = opened
        self._prepared: Database | None = None

    async def _ready(self) -> "Database":
        database = await self._opened()
        if database is not self._prepared:
            await database.change(_TABLE)
            self._prepared = database
        return database

    async def close(self) -> None:
        """Close a database of its own."""
        if isinstance(self._opened, TaskFile):
            await self._opened.close()

    async def add(self, task: TaskRecord) -> None:
        """Store a new task, and forget those that have been over for long."""
        database = await self._ready()
        old = task.updated_at - KEPT_SECONDS
        await database.change(f"DELETE FROM tasks WHERE NOT {_OPEN} AND updated_at < ?", (old,))  # noqa: S608
        marks = ", ".join("?" * len(_values(task)))
        await database.change(f"INSERT INTO tasks ({_COLUMNS}) VALUES ({marks})", _values(task))  # noqa: S608

    async def get(self, task_id: str) -> TaskRecord | None:
        database = await self._ready()
        found = await database.rows(f"SELECT {_COLUMNS} FROM tasks WHERE id = ?", (task_id,))  # noqa: S608
        return _record(found[0]) if found else None

    async def save(self, task: TaskRecord, owner: str) -> bool:
        """Replace a task that is not over and belongs to `owner`; return whether it was replaced."""
        names = _COLUMNS.split(", ")
        sets = ", ".join(f"{name} = ?" for name in names)
        statement = f"UPDATE tasks SET {sets} WHERE id = ? AND owner = ? AND {_OPEN}"  # noqa: S608
        return await (await self._ready()).change(statement, (*_values(task), task.id, owner)) == 1

    async def open_tasks(self, principal: str) -> int:
        """Return how many tasks of a principal are not over."""
        found = await (await self._ready()).rows(
            f"SELECT count(*) FROM tasks WHERE principal = ? AND {_OPEN}",  # noqa: S608
            (principal,),
        )
        return int(found[0][0])


def _values(task: TaskRecord) -> tuple[Any, ...]:
    return (
        task.id,
        task.principal,
        task.connection,
        dumps(task.client),
        task.tool,
        dumps(task.arguments),
        dumps(task.checkpoint),
        task.status,
        task.message,
        dumps(task.outcome),
        task.asked,
        task.created_at,
        task.updated_at,
        task.owner,
    )


def _record(row: tuple[Any, ...]) -> TaskRecord:
    id_, principal, connection, client, tool, arguments, checkpoint, status, message, outcome, *rest = row
    asked, created_at, updated_at, owner = rest
    record = TaskRecord(id_, principal, connection, loads(client), tool, loads(arguments), created_at, updated_at)
    return replace(
        record,
        checkpoint=loads(checkpoint),
        status=status,
        message=message,
        outcome=loads(outcome),
        asked=asked,
        owner=owner,
    )
