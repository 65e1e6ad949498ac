"""SQLite: WAL, locking, network-disk refusal, group commit."""

import asyncio
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from anyio import CancelScope

from ui_mcp.errors import ChatError, hint

BUSY_SECONDS = 10.0
MOUNTS = Path("/proc/self/mounts")
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs"})

MIGRATIONS = (
    """
    CREATE TABLE conversations (
        key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER NOT NULL, user_head INTEGER NOT NULL
    );
    CREATE TABLE messages (
        conversation INTEGER NOT NULL REFERENCES conversations(key),
        id INTEGER NOT NULL, ts INTEGER NOT NULL, author TEXT NOT NULL, principal TEXT NOT NULL,
        mime TEXT NOT NULL, content TEXT NOT NULL, client_id TEXT,
        PRIMARY KEY (conversation, id)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX messages_once ON messages (conversation, principal, client_id) WHERE client_id IS NOT NULL;
    CREATE TRIGGER messages_stay BEFORE UPDATE ON messages BEGIN SELECT RAISE(ABORT, 'messages are final'); END;
    CREATE TRIGGER messages_last BEFORE DELETE ON messages BEGIN SELECT RAISE(ABORT, 'messages are final'); END;
    CREATE TABLE receipts (
        conversation TEXT NOT NULL, stage TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (conversation, stage)
    ) WITHOUT ROWID;
    CREATE TABLE tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, subscriber TEXT NOT NULL, scopes TEXT NOT NULL,
        digest BLOB NOT NULL, created INTEGER NOT NULL, expires INTEGER
    );
    CREATE TABLE audit (ts INTEGER NOT NULL, principal TEXT NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL);
    """,
)


def connect(path: Path) -> sqlite3.Connection:
    """Open one connection; transactions are ours to begin and end."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def prepare(path: Path) -> None:
    """Create the file if needed and bring it to the newest schema.

    Raises:
        ChatError: the file is newer than this program, lies on a network disk, or cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_network(path)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = connect(path)
        try:
            _enter_wal(connection)
            _migrate(connection, path)
        finally:
            connection.close()
    except (OSError, sqlite3.Error) as error:
        raise ChatError(f"Cannot open the chat store: {error}{hint(error)}", "storage_error", path=str(path)) from error


def _enter_wal(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + BUSY_SECONDS
    while True:  # switching to WAL ignores the busy timeout while another process opens the file
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            message = f"{path.name} was written by a newer ui-mcp (schema {version}); update this one"
            raise ChatError(message, "storage_error", path=str(path), schema=version)
        if 0 < version < len(MIGRATIONS):
            _keep_copy(path, version)
        for script in MIGRATIONS[version:]:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _keep_copy(path: Path, version: int) -> None:
    target = path.with_name(f"{path.name}.schema-{version}.bak")
    source, copy = sqlite3.connect(path), sqlite3.connect(target)
    try:
        source.backup(copy)
    finally:
        source.close()
        copy.close()
    shutil.copymode(path, target)


def _statements(script: str) -> list[str]:
    found, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    return found


def _refuse_network(path: Path) -> None:
    if not MOUNTS.exists():
        return
    home = path.parent.resolve()
    entries = [line.split() for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
    around = [entry for entry in entries if len(entry) > 2 and home.is_relative_to(entry[1].replace("\\040", " "))]
    kind = max(around, key=lambda entry: len(entry[1]))[2] if around else ""
    if kind in _NETWORK:
        message = f"{path} lies on a network disk ({kind}), where SQLite may lose messages\n"
        raise ChatError(
            message + "Use a local directory, or PostgreSQL by storage.url.", "storage_error", path=str(path)
        )


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
    return ChatError(f"The chat store {path} failed: {error}{hint(error)}", "storage_error", path=str(path))
