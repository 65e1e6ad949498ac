"""SQLite: private files in WAL mode, migrations, group commit, readers, and wake-ups after a commit."""

import asyncio
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from anyio import CancelScope, CapacityLimiter, Event, create_task_group, move_on_after, to_thread

from ui_mcp.errors import UiMcpError, hint
from ui_mcp.jsontypes import Json
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.storage.schema import Schema, T, Transaction
from ui_mcp.storage.wakeup import NOTIFIED_SECONDS, POLL_SECONDS, WakeupPipe

_log = logger("storage")
BUSY_SECONDS = 10.0
MOUNTS = Path("/proc/self/mounts")
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs"})
_READERS = 4
_IDLE_POLL_SECONDS = 1.0
_MAX_GROUP = 256


def connect(path: Path) -> sqlite3.Connection:
    """Open one connection; transactions are ours to begin and end."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def prepare(path: Path, schema: Schema) -> sqlite3.Connection:
    """Create the file if needed, bring it to the newest schema and return a connection.

    Raises:
        UiMcpError: the file is newer than this program, lies on a network disk, or cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if schema.local_only:
            _refuse_network(path, schema)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = connect(path)
        try:
            _enter_wal(connection)
            _migrate(connection, path, schema)
        except BaseException:
            connection.close()
            raise
    except (OSError, sqlite3.Error) as error:
        raise _error(schema, path, error, f"Cannot open the {schema.name} store {path}") from error
    return connection


@contextmanager
def read_only(path: Path, schema: Schema) -> Iterator[Transaction]:
    """Open an existing file of any schema for the length of the block.

    Raises:
        UiMcpError: the file cannot be read.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise _error(schema, path, error, f"Cannot read the {schema.name} store {path}") from error


def first_problem(path: Path) -> str:
    """Return the first problem that SQLite finds in a file, "" if it finds none; a file in use counts as sound."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        return "" if "locked" in str(error) else str(error)
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found


def commit_stamp(path: Path) -> tuple[int, ...]:
    """Return a value that changes with every commit: times and sizes of the file and of its write-ahead log."""
    found: list[int] = []
    for one in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):  # SQLite deletes the log when the last connection closes
            stat = one.stat()
            found += (stat.st_mtime_ns, stat.st_size)
    return tuple(found)


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


def _migrate(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    # IMMEDIATE: of several processes that open the file, one migrates it and the others wait.
    connection.execute("BEGIN IMMEDIATE")
    try:
        version: int = connection.execute(f"PRAGMA {schema.version}").fetchone()[0] if schema.version else 0
        pending = schema.pending(version, path.name)
        if version and pending:
            _keep_copy(path, version)
        for script in pending:
            for statement in _statements(script):
                connection.execute(statement)
        if schema.version and pending:
            connection.execute(f"PRAGMA {schema.version}={len(schema.migrations)}")
        for table, column, kind in schema.added:
            if column not in {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
        if schema.opened is not None:
            schema.opened(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _keep_copy(path: Path, version: int) -> None:
    target = path.with_name(f"{path.name}.schema-{version}.bak")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    shutil.copymode(path, target)


def _statements(script: str) -> list[str]:
    found, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    return found


def _refuse_network(path: Path, schema: Schema) -> None:
    if not MOUNTS.exists():
        return
    home = path.parent.resolve()
    entries = [line.split() for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
    around = [entry for entry in entries if len(entry) > 2 and home.is_relative_to(entry[1].replace("\\040", " "))]
    kind = max(around, key=lambda entry: len(entry[1]))[2] if around else ""
    if kind in _NETWORK:
        message = f"{path} lies on a network disk ({kind}), where SQLite may lose messages\n"
        raise schema.error("failed", message + "Use a local directory, or PostgreSQL by storage.url.", path=str(path))


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # after a disk error SQLite has already rolled back
        with suppress(sqlite3.Error):  # the next BEGIN reports it
            connection.execute("ROLLBACK")


def _error(schema: Schema, path: Path, error: Exception, doing: str = "") -> UiMcpError:
    """Turn an error of SQLite or of the disk into one of the store."""
    locked = isinstance(error, sqlite3.OperationalError) and any(
        word in str(error) for word in ("locked", "busy", "locking")
    )
    if locked and not doing:
        return schema.error("busy", f"The {schema.name} store is busy; try again")
    doing = doing or f"The {schema.name} store {path} failed"
    return schema.error("failed", f"{doing}: {error}{hint(error)}", path=str(path))


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

    def __init__(
        self, path: Path, schema: Schema, connection: sqlite3.Connection, committed: Callable[[], None]
    ) -> None:
        self._path = path
        self._schema = schema
        self._connection = connection
        self._committed = committed
        self._asked: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._flush = ""

    async def run(self, work: Callable[[sqlite3.Connection], T], *, durable: bool) -> T:
        """Commit `work`; `durable` waits for the disk."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._thread is None:
            self._thread = Thread(target=self._serve, name=f"{self._schema.name} writer", daemon=True)
            self._thread.start()
        self._asked.put(_Job(work, durable, answer))
        with CancelScope(shield=True):  # it will be carried through, so its caller learns of it
            await answer
        return answer.result()

    def close(self) -> None:
        """Finish what was asked for and close the connection."""
        if self._thread is not None:
            self._asked.put(None)
            self._thread.join()
            self._thread = None
        self._connection.close()

    def _serve(self) -> None:
        while jobs := self._next():
            self._commit(jobs)
            with suppress(RuntimeError):  # the loop was closed and has no listeners
                jobs[0].answer.get_loop().call_soon_threadsafe(_answer, jobs)

    def _next(self) -> list[_Job]:
        jobs: list[_Job] = []
        with suppress(Empty):
            while len(jobs) < _MAX_GROUP:
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
            _roll_back(self._connection)
            if len(jobs) > 1:
                for job in jobs:
                    self._commit([job])
            else:
                known = isinstance(error, sqlite3.Error)
                jobs[0].error = _error(self._schema, self._path, error) if known else error

    def _transaction(self, jobs: Sequence[_Job]) -> None:
        flush = "FULL" if any(job.durable for job in jobs) else "NORMAL"
        if flush != self._flush:
            self._connection.execute(f"PRAGMA synchronous={flush}")
            self._flush = flush
        # IMMEDIATE: a deferred transaction fails if another process writes before it upgrades its lock.
        self._connection.execute("BEGIN IMMEDIATE")
        for job in jobs:
            job.value = job.work(self._connection)
        self._connection.execute("COMMIT")
        self._committed()


def _answer(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        if job.answer.done():  # its caller was cancelled
            continue
        if job.error:
            job.answer.set_exception(job.error)
        else:
            job.answer.set_result(job.value)


class SqliteFile:
    """A Database in one file: a writer thread that groups commits, and several readers."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._path = path
        self._schema = schema
        connection = prepare(path, schema)
        self.wakeup = WakeupPipe(path, _log.info)
        self._writer = Writer(path, schema, connection, self.wakeup.wake_others)
        self._readers: list[sqlite3.Connection] = []
        self._limiter: CapacityLimiter | None = None

    def close(self) -> None:
        for connection in self._readers:
            connection.close()
        self._readers.clear()
        self._writer.close()
        self.wakeup.close()

    async def change(self, statement: str, values: Sequence[Json] = ()) -> int:
        return await self.durable(lambda connection: connection.execute(statement, values).rowcount)

    async def rows(self, statement: str, values: Sequence[Json] = ()) -> list[tuple[Any, ...]]:
        return await self.read(lambda connection: connection.execute(statement, values).fetchall())

    async def transaction(self, work: Callable[[Transaction], T], *, durable: bool = True) -> T:
        return await self._writer.run(work, durable=durable)

    def listen(self) -> float:
        return NOTIFIED_SECONDS if self.wakeup.listen() else POLL_SECONDS

    async def wait_notified(self) -> None:
        await self.wakeup.wait()

    async def durable(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit `work` so that it survives a power cut."""
        return await self._writer.run(work, durable=True)

    async def lazy(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit `work` without waiting for the disk; a power cut may undo it, a crash of ours does not."""
        return await self._writer.run(work, durable=False)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a worker thread, on a connection that is not used for writing."""
        if self._limiter is None:  # made on the event loop, which makes it cheaper to use
            self._limiter = CapacityLimiter(_READERS)
        return await to_thread.run_sync(self._read, work, limiter=self._limiter)

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = self._reader()
            try:
                found = work(connection)
            except BaseException:
                connection.close()  # do not reuse: a connection opened on a read-only disk stays read-only
                raise
        except sqlite3.Error as error:
            raise _error(self._schema, self._path, error) from error
        self._readers.append(connection)
        return found

    def _reader(self) -> sqlite3.Connection:
        try:
            return self._readers.pop()
        except IndexError:
            return connect(self._path)


class CommitWatcher:
    """Notices commits to a file by any process since it was made."""

    def __init__(self, path: Path, wakeup: WakeupPipe, poll: float) -> None:
        self._connection = connect(path)
        self._wakeup = wakeup
        self._poll = poll
        self._seen = self._version()
        self._written = Event()

    def close(self) -> None:
        self._connection.close()

    def wake(self) -> None:
        """Let `changed` look at once, after a commit by this process."""
        self._written.set()

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next commit, False after `limit` seconds."""
        wakeable = self._wakeup.listen()
        pause = None if wakeable else self._poll if closely else _IDLE_POLL_SECONDS
        with move_on_after(limit):
            async with create_task_group() as tasks:
                tasks.start_soon(self._relay_wakeups)
                while self._version() == self._seen:
                    with move_on_after(pause):
                        await self._written.wait()
                    self._written = Event()
                tasks.cancel_scope.cancel()
        before, self._seen = self._seen, self._version()
        return self._seen != before

    async def _relay_wakeups(self) -> None:
        while self._wakeup.listen():
            await self._wakeup.wait()
            self.wake()

    def _version(self) -> int:
        # Takes 8 µs, because SQLite only reads shared memory: cheaper on the event loop than in a thread.
        try:
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            return -1  # counts as a change, so that the next read raises the error
