"""Lock, port and token files of a served directory."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from ui_mcp.errors import AlreadyRunningError, ConfigError
from ui_mcp.files import try_lock, write_atomic
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.person import state_folder
from ui_mcp.workspace import Workspace

NAME = "running.lock"
SERVER_NAME = "server.lock"
"""Held by the process that clients of the directory join, whether or not the UI runs."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that serves a directory; 0 and an empty address until it has written them."""

    pid: int
    url: str

    @property
    def process(self) -> str:
        return f"ui-mcp (pid {self.pid})" if self.pid else "ui-mcp"


class DirectoryLock:
    """The lock of a served directory; its content tells other processes the pid and address."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def publish(self, url: str) -> None:
        """Write pid and address into the lock file."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(dumps({"pid": os.getpid(), "url": url}).encode())
        self._file.flush()


@contextmanager
def exclusive(workspace: Workspace) -> Iterator[DirectoryLock]:
    """Hold the lock of the directory while the block runs.

    Raises:
        AlreadyRunningError: another process serves it; the message names it.
        ConfigError: the lock file is a link.
    """
    own, *older = _lock_files(workspace)
    with ExitStack() as held:
        for path in older:
            # A server of an older version knows only this file: hold it, but write nothing to it.
            with suppress(FileNotFoundError, ConfigError):
                _lock(held.enter_context(open_regular(path, os.O_RDONLY)), path)
        file = held.enter_context(open_regular(own, os.O_RDWR | os.O_CREAT))
        _lock(file, own)
        try:
            yield DirectoryLock(file)
        finally:
            with suppress(OSError):
                file.truncate(0)


@contextmanager
def server_lock(workspace: Workspace) -> Iterator[None]:
    """Be the one process that clients of the directory join, while the block runs.

    Raises:
        AlreadyRunningError: another process is.
        ConfigError: the lock file is a link.
    """
    with held_lock(workspace.state_dir / SERVER_NAME):
        yield


@contextmanager
def held_lock(path: Path) -> Iterator[None]:
    """Hold a lock file, with our pid in it, while the block runs.

    Raises:
        AlreadyRunningError: another process holds it.
        ConfigError: it is a link.
    """
    with open_regular(path, os.O_RDWR | os.O_CREAT) as file:
        try:
            try_lock(file)
        except OSError as error:
            other = holder(path)
            raise AlreadyRunningError(f"Another {other.process} serves this directory", pid=other.pid) from error
        DirectoryLock(file).publish("")
        try:
            yield
        finally:
            with suppress(OSError):
                file.truncate(0)


def joined_server(workspace: Workspace) -> Holder | None:
    """Return the process that clients of the directory join, or None."""
    path = workspace.state_dir / SERVER_NAME
    try:
        with open_regular(path, os.O_RDONLY) as file:
            try_lock(file)
    except (FileNotFoundError, NotADirectoryError, ConfigError):
        return None
    except OSError:
        return holder(path)
    return None


def other_server(workspace: Workspace) -> Holder | None:
    """Return another process that serves the directory, or None."""
    for path in _lock_files(workspace):
        try:
            with open_regular(path, os.O_RDONLY) as file:
                try_lock(file)
        except (FileNotFoundError, ConfigError):
            continue
        except OSError:
            return holder(path)
    return None


def holder(path: Path) -> Holder:
    """Return the process that holds a lock file."""
    try:
        with open_regular(path, os.O_RDONLY) as file:
            facts = loads(file.read())
        return Holder(int(facts["pid"]), str(facts["url"]))
    except (OSError, ConfigError, ValueError, KeyError, TypeError):
        # The holder has locked the file but not written it yet.
        return Holder(0, "")


def open_regular(path: Path, flags: int) -> BinaryIO:
    """Open one of ui-mcp's files, private to its owner; never follow a link to a file of another program.

    Raises:
        ConfigError: the path is a symbolic or hard link, or not a regular file.
        OSError: it cannot be opened.
    """
    nofollow = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():
        raise _refused(path, "a link")
    try:
        descriptor = os.open(path, flags | nofollow | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK} or path.is_symlink():
            raise _refused(path, "a link") from error
        raise
    found = os.fstat(descriptor)
    # A hard link could be another program's file under a name of ours.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise _refused(path, "a link" if stat.S_ISREG(found.st_mode) else "no ordinary file")
    return os.fdopen(descriptor, "r+b" if flags & os.O_RDWR else "rb")


def _refused(path: Path, kind: str) -> ConfigError:
    return ConfigError(f"{path} is {kind}, which is never written through\nRemove it and try again.", path=str(path))


def _lock(file: BinaryIO, path: Path) -> None:
    try:
        try_lock(file)
    except OSError as error:
        other = holder(path)
        doing = f"runs this directory at {other.url}" if other.url else "is starting in this directory"
        raise AlreadyRunningError(
            f"Another {other.process} {doing}\nUse it there, stop it, or choose another --dir.",
            pid=other.pid,
            url=other.url,
        ) from error


def _lock_files(workspace: Workspace) -> list[Path]:
    places = [workspace.state_dir]
    if workspace.storage not in places and not workspace.storage_leads_away:
        places.append(workspace.storage)
    return [place / NAME for place in places]


_KEPT_PORTS = 500


@contextmanager
def port_file(file: Path, port: int) -> Iterator[None]:
    """Keep `port` in `file` while the block runs; delete it afterwards, unless another process has overwritten it."""
    with _kept(file, str(port), mode=0o644):
        yield


@contextmanager
def token_file(workspace: Workspace) -> Iterator[str]:
    """Keep a new token in `mcp-token`, readable only by its owner, while the block runs."""
    token = token_hex(16)
    with _kept(workspace.mcp_token, token, mode=0o600):
        yield token


@contextmanager
def _kept(file: Path, text: str, *, mode: int) -> Iterator[None]:
    write_atomic(file, text.encode(), mode=mode)
    try:
        yield
    finally:
        with suppress(OSError, ConfigError):  # a link that was put there meanwhile is neither read nor removed
            with open_regular(file, os.O_RDONLY) as kept:
                ours = kept.read() == text.encode()
            if ours:
                file.unlink()


def last_port(workspace: Workspace, name: str) -> int:
    """Return the port that a listener of this base directory had last, or 0.

    It is stored per account, not in the project: a repository must not choose the origin of its pages.
    """
    try:
        port = int(_last_port_file(workspace, name).read_text())
    except (OSError, ValueError):
        return 0
    return port if 1024 <= port <= 65535 else 0


def keep_port(workspace: Workspace, name: str, port: int) -> None:
    """Store the port of a listener for the next start, so that its origin stays the same; disk errors are ignored."""
    file = _last_port_file(workspace, name)
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(str(port))
        kept = sorted(file.parent.iterdir(), key=lambda one: one.stat().st_mtime)
        for old in kept[:-_KEPT_PORTS]:
            old.unlink(missing_ok=True)


def _last_port_file(workspace: Workspace, name: str) -> Path:
    digest = hashlib.sha256(str(workspace.base).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return state_folder() / "ports" / f"{digest}-{name}"


@dataclass(slots=True)
class ListenPorts:
    """Ports to listen on; 0 means any free port."""

    ui: int = 0
    mcp: int = 0
    lasting: bool = False
    """Whether 0 prefers the port of the last time, if it is still free."""
    person: int = 0
    """Preferred port of the person's listener; otherwise it takes the last one, or a free one."""
    mcp_is_open: bool = False
    """Whether the MCP listener is open already, because `serve` keeps it across restarts of the UI."""
