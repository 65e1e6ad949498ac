"""Moves ui-mcp's own files from `storage/`, where older versions kept them, to `.ui-mcp/`."""

import hashlib
import os
import re
import shutil
import sqlite3
import stat
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.storage.wakeup import pipe_folder
from ui_mcp.ui import instance
from ui_mcp.ui.base_dir.file_layout import Action, decide, locked, look, named_store
from ui_mcp.version import bundled_version
from ui_mcp.workspace import CHAT_FILE, MOVING, OLD_FILES, Workspace, fill_own

PROCESSES = Path("/proc")


def pipe_reader(pipes: Path) -> int | None:
    """Return the pid of a process that reads a named pipe in this folder; pipes are named after their process."""
    if not hasattr(os, "mkfifo") or not pipes.is_dir():
        return None
    for pipe in sorted(pipes.iterdir()):
        with suppress(OSError):  # opening fails if the pipe has no reader
            if stat.S_ISFIFO(pipe.lstat().st_mode):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))
                number = pipe.name.partition("-")[0]
                return int(number) if number.isdecimal() else 0
    return None


def process_with_open_file(files: Iterable[Path]) -> tuple[int, Path] | None:
    """Return another process of this account that has one of the files open, and the file; Linux only."""
    searched: dict[tuple[int, int], Path] = {}
    for file in files:
        with suppress(OSError):
            found = file.lstat()
            searched[found.st_dev, found.st_ino] = file
    for process in _other_processes() if searched else ():
        for target in _open_files(process):
            if target in searched:
                return int(process.name), searched[target]
    return None


def _other_processes() -> Iterator[Path]:
    own = str(os.getpid())
    with suppress(OSError):
        yield from (entry for entry in PROCESSES.iterdir() if entry.name.isdecimal() and entry.name != own)


def _open_files(process: Path) -> Iterator[tuple[int, int]]:
    with suppress(OSError), os.scandir(process / "fd") as entries:  # it has exited, or belongs to another account
        for entry in entries:
            with suppress(OSError):
                # Stat only paths, as each stat may block on an unreachable network disk.
                if os.readlink(entry.path).startswith("/"):  # noqa: PTH115 - many thousands of them
                    found = os.stat(entry.path)  # noqa: PTH116
                    yield found.st_dev, found.st_ino


_PAUSE = 0.05


class NotMovedError(Exception):
    """The files were not moved, for the reason given."""


@contextmanager
def sole_connection(path: Path, deadline: float) -> Iterator[sqlite3.Connection]:
    """Open a store exclusively, with its write-ahead log merged into the one file.

    Raises:
        NotMovedError: another process still has it open at the deadline.
    """
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, timeout=0.1, isolation_level=None, check_same_thread=False)) as opened:
        opened.execute("PRAGMA locking_mode=EXCLUSIVE")
        while True:
            try:
                # Only a sole connection can leave WAL mode: this detects idle connections as well as busy ones.
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
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)  # left over by a killed process
        yield opened


def copy_checked(source: Path, target: Path, store: sqlite3.Connection | None) -> None:
    """Copy a file, or a store through its sole connection, and verify the copy.

    Raises:
        NotMovedError: the copy differs from the original, or the original is damaged.
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
        results = [row[0] for row in copy.execute("PRAGMA integrity_check(3)")]
        if results != ["ok"]:
            raise NotMovedError(f"{source.name} is damaged: {'; '.join(results)}")
        if _rows(copy) != _rows(store):
            raise NotMovedError(f"the copy of {source.name} differs")


def _rows(database: sqlite3.Connection) -> Mapping[str, int]:
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    quoted = {table: '"' + table.replace('"', '""') + '"' for table in tables}
    counted = "SELECT count(*) FROM {}"
    return {table: database.execute(counted.format(name)).fetchone()[0] for table, name in quoted.items()}


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file, readable only by its owner, and sync it to disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Sync the entries of a folder to disk."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


WRITE_LOCK_SECONDS = 5.0
_JARS = ("targets/javafx-agent.jar", "targets/agent/javafx-agent.jar")
_SMALL = re.compile(r"runtime\.db\.schema-\d+\.bak|targets/[^/\\]+\.json")


def kept_names(names: Collection[str], taken: Collection[str], version: str) -> dict[str, str]:
    """Return the name under which each original is kept, with one suffix for all that is not taken yet; pure."""
    number, suffix = 1, f".before-{version}"
    while any(f"{name}{suffix}" in taken for name in names):
        number += 1
        suffix = f".before-{version}-{number}"
    return {name: f"{name}{suffix}" for name in names}


def is_target(facts: object) -> bool:
    """Return whether the content of a file is a record that `ui-mcp attach` or the agent in a program writes; pure."""
    return isinstance(facts, dict) and {"pid", "port", "token"} <= facts.keys()


def moving(workspace: Workspace) -> Iterator[str]:
    """Move everything in steps, yielding the name of each completed step; the caller holds `.ui-mcp.lock`.

    Raises:
        NotMovedError: it was not possible; all changes were undone.
    """
    with ExitStack() as held:
        try:
            if decide(look(workspace)) is not Action.MOVE:
                return
            if workspace.storage_leads_away:
                raise NotMovedError("storage is a link that leads out of the base directory")
            workspace.storage.mkdir(mode=0o700, exist_ok=True)
            held.enter_context(_old_lock(workspace))
            yield "locked"
            yield from _undo(workspace)
            yield from _copied_and_renamed(workspace, held)
        except NotMovedError:
            _try_undo(workspace)
            raise
        except (OSError, sqlite3.Error, ConfigError) as error:
            _try_undo(workspace)
            raise NotMovedError(str(error).partition("\n")[0]) from error
    _remove_pipes(workspace)
    yield "pipes removed"


def _copied_and_renamed(workspace: Workspace, held: ExitStack) -> Iterator[str]:
    storage, new = workspace.storage, _new(workspace)
    names = _ours(workspace)
    kept = kept_names(names, _taken(storage), bundled_version())
    deadline = time.monotonic() + WRITE_LOCK_SECONDS
    _refuse_users(workspace, names, deadline)
    stores = {name: held.enter_context(sole_connection(storage / name, deadline)) for name in names if _is_store(name)}
    yield "stores locked"
    new.mkdir(mode=0o700)  # fails if something else is there, such as a link
    fill_own(new)
    write_durably(new / MOVING, dumps({"kept": kept}).encode())
    yield "folder made"
    for name in names:
        copy_checked(storage / name, new / name, stores.get(name))
        yield f"{name} copied"
    sync(new)
    _refuse_users(workspace, names, deadline=0)
    new.rename(workspace.own)
    sync(workspace.base)
    yield "folder renamed"
    for name, later in kept.items():
        if sys.platform == "win32" and name in stores:
            stores[name].close()  # Windows cannot rename open files
        (storage / name).rename(storage / later)
        yield f"{name} renamed"
    sync(storage)
    # A process that opened a store at the last moment now has the renamed file open; its writes would be lost.
    _refuse_users(workspace, kept.values(), deadline=0)
    (workspace.own / MOVING).unlink()
    sync(workspace.own)
    yield "moved"


def _ours(workspace: Workspace) -> list[str]:
    """Return the files to move: only those that ui-mcp wrote, no links, and not a store that the settings name."""
    storage = workspace.storage
    found = [*OLD_FILES, *_JARS]
    found += [path.name for path in storage.glob(f"{CHAT_FILE}.schema-*.bak")]
    found += [f"targets/{path.name}" for path in storage.glob("targets/*.json") if is_target(_json(path))]
    named = named_store(workspace)
    return [
        name
        for name in dict.fromkeys(found)
        if (storage / name).is_file() and not _by_link(storage, name) and (storage / name).resolve() != named
    ]


def _taken(storage: Path) -> set[str]:
    found = [*storage.glob("*.before-*"), *storage.glob("targets/**/*.before-*")]
    return {path.relative_to(storage).as_posix() for path in found}


def _by_link(storage: Path, name: str) -> bool:
    parts = Path(name).parts
    return any(storage.joinpath(*parts[: count + 1]).is_symlink() for count in range(len(parts)))


def _refuse_users(workspace: Workspace, names: Collection[str], deadline: float) -> None:
    """Wait for processes that have the files open.

    Raises:
        NotMovedError: one is a server, or still has them open at the deadline.
    """
    if (pid := pipe_reader(pipe_folder(workspace.storage / CHAT_FILE))) is not None:
        raise NotMovedError(f"process {pid} has {CHAT_FILE} open; end it")
    # A server of this version would hold the lock held here, so the process that writes the log is an older one.
    log, stores = workspace.log / "mcp.log", [workspace.storage / name for name in names if _is_store(name)]
    while user := process_with_open_file([log, *stores]):
        if user[1] == log:
            raise NotMovedError(f"process {user[0]} is an older ui-mcp that uses this directory; end it")
        if time.monotonic() > deadline:
            raise NotMovedError(f"process {user[0]} has {user[1].name} open; end it")
        time.sleep(_PAUSE)


@contextmanager
def _old_lock(workspace: Workspace) -> Iterator[None]:
    path = workspace.storage / instance.NAME
    with instance.open_regular(path, os.O_RDWR | os.O_CREAT) as file:
        if not locked(file):
            raise NotMovedError(f"{instance.holder(path).process} serves this directory; end it")
        yield


def _undo(workspace: Workspace) -> Iterator[str]:
    """Undo the completed steps of an interrupted move; at each step one of the two folders is complete."""
    if workspace.storage_leads_away:
        return
    if not (workspace.own / MOVING).exists():
        _remove_new(workspace)
        yield "leftovers removed"
        return
    for name, later in _kept(workspace).items():
        original, kept = workspace.storage / name, workspace.storage / later
        if not kept.is_file():
            continue
        if original.exists():
            _put_aside(original)
            yield f"{name} put aside"
        kept.rename(original)
        yield f"{name} taken back"
    sync(workspace.storage)
    _remove_new(workspace)
    workspace.own.rename(_new(workspace))
    sync(workspace.base)
    yield "folder taken back"
    _remove_new(workspace)
    yield "leftovers removed"


def _remove_new(workspace: Workspace) -> None:
    new = _new(workspace)
    if new.is_symlink():
        new.unlink()
    elif new.exists():
        shutil.rmtree(new)


def _put_aside(path: Path) -> None:
    """Rename a file that an older version created while a move was interrupted."""
    with ExitStack() as held:
        if _is_store(path.name):
            held.enter_context(sole_connection(path, time.monotonic() + WRITE_LOCK_SECONDS))
        number = 1
        while path.with_name(f"{path.name}.after-{number}").exists():
            number += 1
        path.rename(path.with_name(f"{path.name}.after-{number}"))


def _try_undo(workspace: Workspace) -> None:
    with suppress(OSError, sqlite3.Error, NotMovedError):  # the next start tries again
        for _ in _undo(workspace):
            pass


def _kept(workspace: Workspace) -> dict[str, str]:
    facts = _json(workspace.own / MOVING)
    if facts is None or not isinstance(facts.get("kept"), dict):
        raise NotMovedError(f"{workspace.own / MOVING} cannot be read; remove {workspace.own} if storage/ is complete")
    # The file may come from the repository: accept only names of ui-mcp's own files.
    return {
        name: later
        for name, later in facts["kept"].items()
        if (name in (*OLD_FILES, *_JARS) or _SMALL.fullmatch(name))
        and re.fullmatch(re.escape(name) + r"\.before-[\w.+-]+", str(later))
        and not _by_link(workspace.storage, name)
        and not _by_link(workspace.storage, later)
    }


def _json(path: Path) -> JsonObject | None:
    try:
        found = loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _remove_pipes(workspace: Workspace) -> None:
    pipes = pipe_folder(workspace.storage / CHAT_FILE)
    with suppress(OSError):
        for pipe in pipes.iterdir():
            if pipe.is_fifo() and not pipe.is_symlink():
                pipe.unlink()
        pipes.rmdir()


def _new(workspace: Workspace) -> Path:
    return workspace.base / ".ui-mcp.new"


def _is_store(name: str) -> bool:
    return name.endswith((".db", ".bak")) or ".db.before-" in name or ".bak.before-" in name
