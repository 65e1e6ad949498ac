"""The one connection that writes: what is asked for at the same time shares a transaction and its disk flush."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from anyio import Lock, to_thread

from ui_mcp.errors import ChatError, UiMcpError

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], Any]
_TOGETHER = 256


@dataclass(slots=True)
class _Job:
    work: Work
    durable: bool
    done: bool = False
    value: Any = None
    error: UiMcpError | None = None


class Writer:
    """Runs work in transactions, in the order it was asked for."""

    def __init__(self, connection: sqlite3.Connection, committed: Callable[[], None] = lambda: None) -> None:
        self._connection = connection
        self._committed = committed
        self._lock = Lock()
        self._waiting: list[_Job] = []
        self._flush = ""

    async def durable(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit `work` so that it survives a power cut."""
        return cast("T", await self._run(_Job(work, durable=True)))

    async def lazy(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit `work` without waiting for the disk; a power cut may undo it, a crash of ours does not."""
        return cast("T", await self._run(_Job(work, durable=False)))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    async def _run(self, job: _Job) -> Any:
        self._waiting.append(job)
        try:
            async with self._lock:
                if not job.done:  # whoever gets the lock first commits for everyone who waits
                    jobs, self._waiting = self._waiting[:_TOGETHER], self._waiting[_TOGETHER:]
                    await to_thread.run_sync(self._commit, jobs)
        finally:
            if job in self._waiting:
                self._waiting.remove(job)
        if job.error:
            raise job.error
        return job.value

    def _commit(self, jobs: list[_Job]) -> None:
        try:
            self._transaction(jobs)
        except (sqlite3.Error, UiMcpError) as error:
            self._roll_back()
            if len(jobs) > 1:
                for job in jobs:
                    self._commit([job])
            else:
                jobs[0].error = error if isinstance(error, UiMcpError) else translated(error)
        for job in jobs:
            job.done = True

    def _transaction(self, jobs: list[_Job]) -> None:
        flush = "FULL" if any(job.durable for job in jobs) else "NORMAL"
        if flush != self._flush:
            self._connection.execute(f"PRAGMA synchronous={flush}")
            self._flush = flush
        self._connection.execute("BEGIN IMMEDIATE")
        for job in jobs:
            job.value = job.work(self._connection)
        self._connection.execute("COMMIT")
        self._committed()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def translated(error: sqlite3.Error) -> ChatError:
    """Turn SQLite's error into ours."""
    if isinstance(error, sqlite3.OperationalError) and any(
        word in str(error) for word in ("locked", "busy", "locking")
    ):
        return ChatError("The chat store is busy; try again", "busy")
    return ChatError(f"The chat store failed: {error}", "storage_error")
