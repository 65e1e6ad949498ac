"""Opening a SQLite file safely: private, in WAL mode, on a local disk, brought to the newest schema."""

import os
import shutil
import sqlite3
import time
from pathlib import Path

from ui_mcp.errors import ChatError, way_out

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
        raise ChatError(
            f"Cannot open the chat store: {error}{way_out(error)}", "storage_error", path=str(path)
        ) from error


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
