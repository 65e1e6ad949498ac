"""The one connection that writes: what is asked for at the same time shares a transaction and its disk flush."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from anyio import CancelScope

from ui_mcp.chat.stores.sqlite_file import connect
from ui_mcp.errors import ChatError, way_out

T = TypeVar("T")
_TOGETHER = 256


@dataclass(slots=True)
class _Job:
    work: Callable[[sqlite3.Connection], Any]
    durable: bool
    answer: asyncio.Future[Any]
    value: Any = None
    error: Exception | None = None


class Writer:
    """Runs work in transactions, in the order it was asked for.

    It has a thread of its own, which sleeps until it is asked: handing work to a pool's thread and back takes longer
    than the work.
    """

    def __init__(self, path: Path, committed: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._connection = connect(path)
        self._committed = committed
        self._asked: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._flush = ""

    async def durable(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit `work` so that it survives a power cut."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        return await self._ask(_Job(work, durable=True, answer=answer), answer)

    async def lazy(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit `work` without waiting for the disk; a power cut may undo it, a crash of ours does not."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        return await self._ask(_Job(work, durable=False, answer=answer), answer)

    def close(self) -> None:
        """Finish what was asked for and close the connection."""
        if self._thread is not None:
            self._asked.put(None)
            self._thread.join()
            self._thread = None
        self._connection.close()

    async def _ask(self, job: _Job, answer: asyncio.Future[T]) -> T:
        if self._thread is None:
            self._thread = Thread(target=self._serve, name="chat writer", daemon=True)
            self._thread.start()
        self._asked.put(job)
        with CancelScope(shield=True):  # it will be carried through, so its caller learns of it
            await answer
        return answer.result()

    def _serve(self) -> None:
        while jobs := self._next():
            self._commit(jobs)
            with suppress(RuntimeError):  # the loop was closed: nobody is left to hear
                jobs[0].answer.get_loop().call_soon_threadsafe(_answer, jobs)

    def _next(self) -> list[_Job]:
        jobs: list[_Job] = []
        with suppress(Empty):
            while len(jobs) < _TOGETHER:
                job = self._asked.get(block=not jobs)
                if job is None:
                    if jobs:
                        self._asked.put(None)
                    break
                jobs.append(job)
        return jobs

    def _commit(self, jobs: Sequence[_Job]) -> None:
        try:
            self._transaction(jobs)
        except Exception as error:  # noqa: BLE001 - the boundary to those who asked: each gets its own failure
            self._roll_back()
            if len(jobs) > 1:
                for job in jobs:
                    self._commit([job])
            else:
                jobs[0].error = translated(error, self._path) if isinstance(error, sqlite3.Error) else error

    def _transaction(self, jobs: Sequence[_Job]) -> None:
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
            with suppress(sqlite3.Error):  # the next BEGIN will say it
                self._connection.execute("ROLLBACK")


def _answer(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        if job.answer.done():  # its caller was cancelled
            continue
        if job.error:
            job.answer.set_exception(job.error)
        else:
            job.answer.set_result(job.value)


def translated(error: sqlite3.Error, path: Path) -> ChatError:
    """Turn SQLite's error into ours."""
    if isinstance(error, sqlite3.OperationalError) and any(
        word in str(error) for word in ("locked", "busy", "locking")
    ):
        return ChatError("The chat store is busy; try again", "busy")
    return ChatError(f"The chat store {path} failed: {error}{way_out(error)}", "storage_error", path=str(path))
