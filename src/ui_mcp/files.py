"""Atomic writes, private (0600) files and folders, digests and locks of files."""

import errno
import os
import re
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

TEMPORARY_SUFFIX = re.compile(r"[0-9a-f]{16}|[a-z0-9_]{8}")
"""What follows the name of a file that is being written; the shorter form is that of earlier versions."""


def write_atomic(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Replace a file atomically and create its folders; a link at its path is replaced, not followed.

    `mode` is set whatever the umask is; until then the file is private to its owner.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, because a rename is atomic only within one file system. Not by `tempfile`: `random`, which it
    # imports, runs code in every forked Lua worker, which takes memory in each.
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())  # else a power failure may leave an empty file under the new name
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def digest_of(file: Path) -> str | None:
    """Return the SHA-256 of the file in hexadecimal; `None` if there is no file, empty for a dangling link."""
    try:
        return sha256(file.read_bytes()).hexdigest()
    except FileNotFoundError:
        # We create no dangling links: report content that matches no digest of ours, not a missing file.
        return "" if file.is_symlink() else None


def free_backup_name(file: Path) -> Path:
    """Return `FILE.bak`, or `FILE.bak.1` and so on if earlier backups exist."""
    backup, number = file.with_name(f"{file.name}.bak"), 0
    while backup.exists() or backup.is_symlink():
        number += 1
        backup = file.with_name(f"{file.name}.bak.{number}")
    return backup


PRIVATE = 0o600
PRIVATE_FOLDER = 0o700


class LinkError(OSError):
    """A symbolic link stands where a file or directory of ours is expected."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.ELOOP, "is a link that leads elsewhere; remove it", os.fspath(path))


def open_inside(root: str | os.PathLike[str], path: str | os.PathLike[str], flags: int, mode: int = PRIVATE) -> int:
    """Open `path` without following links and return its descriptor; its directory must lie inside `root`.

    Raises:
        LinkError: the file is a link, or its directory leads out of `root`.
        OSError: the file cannot be opened.
    """
    # Windows has no O_NOFOLLOW; elsewhere it closes the race between this check and the open.
    require_inside(root, os.path.dirname(path))
    if os.path.islink(path):
        raise LinkError(path)
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkError(path) from error
        raise


def require_inside(root: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    """Check that a directory lies inside `root` once links are resolved.

    Raises:
        LinkError: a link leads out of `root`.
    """
    real, top = os.path.realpath(folder), os.path.realpath(root).rstrip(os.sep)
    if real != top and not real.startswith(top + os.sep):
        raise LinkError(folder)


def make_private(folder: str | os.PathLike[str]) -> None:
    """Set the mode of a directory to 0700; does nothing for links and on Windows."""
    if os.name == "posix" and not os.path.islink(folder):
        os.chmod(folder, PRIVATE_FOLDER)


if sys.platform == "win32":
    import msvcrt

    # Windows locks are mandatory: lock bytes far beyond the text, so that others can read it.
    _FIRST, _BYTES = 1 << 20, 64

    def try_lock(file: BinaryIO, *, shared: bool = False) -> None:
        """Lock a file without waiting, or raise OSError: all bytes, or one free byte for a shared lock."""
        file.seek(_FIRST)
        if not shared:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, _BYTES)
            return
        with suppress(OSError):
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, _BYTES)
        for byte in range(_BYTES):
            file.seek(_FIRST + byte)
            with suppress(OSError):
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                return
        raise OSError("all bytes of the shared lock are taken")
else:
    import fcntl

    def try_lock(file: BinaryIO, *, shared: bool = False) -> None:
        """Lock a file without waiting, or raise OSError; a second call converts a held lock."""
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
