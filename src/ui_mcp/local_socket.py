"""Sockets over which clients of this machine join a server: where they are, and whose process is at the other end.

The first line each way is a greeting, JSON with the local protocol's number; afterwards both sides speak JSON-RPC.
"""

import ctypes
import hashlib
import os
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ui_mcp.errors import ConfigError, RefusedError
from ui_mcp.lazy_dataclass import dataclass

PROTOCOL = 1
"""Number of what is said over these sockets; only equal numbers understand each other."""
PROTOCOL_KEY = "ui-mcp"
AVAILABLE = hasattr(socket, "AF_UNIX") and sys.platform != "win32"
"""Whether servers can be joined on this system; Windows has no way to tell whose process connects."""
ROOT = 0
_LONGEST = 100
"""Bytes of a socket's path that every system accepts: Linux has room for 108, macOS for 104."""
_BACKLOG = 64
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SocketPlace:
    """Where the socket of one server is: in `folder`, or in a folder of the account where that cannot hold sockets."""

    folder: Path
    name: str = "server.sock"

    @property
    def paths(self) -> tuple[Path, Path]:
        """The path in `folder`, and the other one."""
        key = os.fsencode(self.folder / self.name)
        digest = hashlib.sha256(key).hexdigest()[:32]
        return self.folder / self.name, _shared_folder() / f"{digest}.sock"

    def listen(self) -> tuple[socket.socket, Path]:
        """Return a listening socket and its path; a socket that a killed server left there is replaced.

        The caller holds the lock that makes it the only server of this place.

        Raises:
            ConfigError: neither place can hold a socket.
        """
        problems: list[str] = []
        for path in self.paths:
            try:
                return _listen(path), path
            except OSError as error:  # no sockets on this file system, or the path is too long
                problems.append(f"{path}: {error.strerror or error}")
        raise ConfigError(f"Cannot listen for other clients of this machine\n{'; '.join(problems)}")

    def connect(self) -> socket.socket | None:
        """Return a connection to the server of this place, or None if none listens.

        Raises:
            RefusedError: it belongs to another account.
        """
        for path in self.paths:
            try:
                return _connect(path)
            except PermissionError as error:
                raise _other_account(_owner(path)) from error
            except (FileNotFoundError, NotADirectoryError, ConnectionError):
                continue
        return None


def admits(uid: int | None) -> bool:
    """Return whether a process of this account may be at the other end: our own, or root."""
    return uid in {os.geteuid(), ROOT}


def peer_uid(connection: socket.socket) -> int | None:
    """Return the account of the process at the other end; None if the system does not say."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return _getpeereid(connection)
    credentials = struct.Struct("3i")
    return int(credentials.unpack(connection.getsockopt(socket.SOL_SOCKET, option, credentials.size))[1])


def _getpeereid(connection: socket.socket) -> int | None:
    """Ask the C library, on macOS and BSD."""
    uid, gid = ctypes.c_uint32(), ctypes.c_uint32()
    try:
        failed = ctypes.CDLL(None).getpeereid(connection.fileno(), ctypes.byref(uid), ctypes.byref(gid))
    except (AttributeError, OSError):
        return None
    return None if failed else uid.value


def _listen(path: Path) -> socket.socket:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise FileExistsError(17, "a file is in the way", str(path))
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short(path) as address:
            listener.bind(address)
        path.chmod(0o600)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def _connect(path: Path) -> socket.socket:
    found = path.lstat()
    if not stat.S_ISSOCK(found.st_mode):
        raise FileNotFoundError(str(path))  # a link from a repository could lead to any other program
    if not admits(found.st_uid):
        raise _other_account(found.st_uid)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_CONNECT_SECONDS)  # a server that hangs accepts no client
        with _short(path) as address:
            connection.connect(address)
        if not admits(uid := peer_uid(connection)):
            raise _other_account(uid)
        connection.setblocking(False)
    except BaseException:
        connection.close()
        raise
    return connection


def _owner(path: Path) -> int | None:
    """Return the account of a file that we may not open, or of the folder that we may not enter."""
    for place in (path, path.parent):
        with suppress(OSError):
            return place.lstat().st_uid
    return None


def _other_account(uid: int | None) -> RefusedError:
    whose = "Another account" if uid is None else f"Another account (uid {uid})"
    return RefusedError(
        f"{whose} serves this directory, and only its own clients may join\nUse a directory of your own: --dir D."
    )


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """Provide a name of `path` that fits into a socket address."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    if not Path("/proc/self/fd").is_dir():  # elsewhere than on Linux
        raise OSError(63, "the path is too long for a socket", str(path))
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _shared_folder() -> Path:
    """Return a folder of this account with a short path, made if it is missing."""
    folder = Path(tempfile.gettempdir()) / f"ui-mcp-{os.geteuid()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            return folder / "not-ours"  # another account made it first
    return folder
