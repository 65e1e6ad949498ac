"""Copies files so that the copy is known to be whole, and a SQLite file only while nobody else has it open."""

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

_PAUSE = 0.05


class NotMovedError(Exception):
    """The files stay where they are, for the reason given."""


@contextmanager
def sole_connection(path: Path, deadline: float) -> Iterator[sqlite3.Connection]:
    """Open a store so that no other process can, with everything in the one file and its write-ahead log gone.

    Raises:
        NotMovedError: another process has it open until the deadline.
    """
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, timeout=0.1, isolation_level=None, check_same_thread=False)) as opened:
        opened.execute("PRAGMA locking_mode=EXCLUSIVE")
        while True:
            try:
                # Leaving WAL mode is possible only for the sole connection: this finds idle users as well as busy ones.
                opened.execute("PRAGMA journal_mode=DELETE")
                opened.execute("BEGIN EXCLUSIVE")
                opened.execute("COMMIT")  # the lock stays until the connection is closed
                break
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith("SQLITE_BUSY"):
                    raise
                if time.monotonic() > deadline:
                    raise NotMovedError(f"another process has {path.name} open; end it") from error
                time.sleep(_PAUSE)
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)  # a killed process left it
        yield opened


def copy_checked(source: Path, target: Path, store: sqlite3.Connection | None) -> None:
    """Copy a file, or a store by its sole connection.

    Raises:
        NotMovedError: the copy is not what the original is, or that is damaged.
    """
    target.parent.mkdir(mode=0o700, exist_ok=True)
    if store is None:
        content = source.read_bytes()
        write_durably(target, content)
        if hashlib.sha256(target.read_bytes()).digest() != hashlib.sha256(content).digest():
            raise NotMovedError(f"the copy of {source.name} differs")
        return
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.execute("PRAGMA synchronous=EXTRA")
        store.backup(copy)
        judged = [row[0] for row in copy.execute("PRAGMA integrity_check(3)")]
        if judged != ["ok"]:
            raise NotMovedError(f"{source.name} is damaged: {'; '.join(judged)}")
        if _rows(copy) != _rows(store):
            raise NotMovedError(f"the copy of {source.name} differs")


def _rows(database: sqlite3.Connection) -> Mapping[str, int]:
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    quoted = {table: '"' + table.replace('"', '""') + '"' for table in tables}
    counted = "SELECT count(*) FROM {}"
    return {table: database.execute(counted.format(name)).fetchone()[0] for table, name in quoted.items()}


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file for its owner alone, on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Have the names in a folder on disk when this returns."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
