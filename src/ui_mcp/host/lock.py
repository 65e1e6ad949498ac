"""Only one process serves a base directory: an operating-system lock that dies with its holder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ui_mcp.errors import AlreadyRunningError
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.workspace import Workspace

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> None:
        # Windows locks are mandatory: lock a byte far beyond the text so that others can read it.
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(0)
else:
    import fcntl

    def _try_lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that serves a directory."""

    pid: int
    url: str


class DirectoryLock:
    """Held while we serve the directory; tells others who and where we are."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def publish(self, url: str) -> None:
        """Write down where we serve."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(dumps({"pid": os.getpid(), "url": url}).encode())
        self._file.flush()


@contextmanager
def exclusive(workspace: Workspace) -> Iterator[DirectoryLock]:
    """Hold the directory for the length of the block.

    Raises:
        AlreadyRunningError: another process serves it; the message names it.
    """
    with _lock_file(workspace).open("a+b") as file:
        try:
            _try_lock(file)
        except OSError as error:
            holder = _holder(workspace)
            raise AlreadyRunningError(
                f"Another ui-mcp (pid {holder.pid}) runs this directory at {holder.url}\n"
                "Use it there, stop it, or choose another --dir.",
                pid=holder.pid,
                url=holder.url,
            ) from error
        try:
            yield DirectoryLock(file)
        finally:
            with suppress(OSError):
                file.truncate(0)


def other_server(workspace: Workspace) -> Holder | None:
    """Return who else serves the directory, if anyone does."""
    try:
        with _lock_file(workspace).open("rb") as file:
            _try_lock(file)
    except FileNotFoundError:
        return None
    except OSError:
        return _holder(workspace)
    return None


def _lock_file(workspace: Workspace) -> Path:
    return workspace.storage / "running.lock"


def _holder(workspace: Workspace) -> Holder:
    try:
        facts = loads(_lock_file(workspace).read_bytes())
        return Holder(int(facts["pid"]), str(facts["url"]))
    except (OSError, ValueError, KeyError, TypeError):
        # The holder has locked the file but not written it yet.
        return Holder(0, "an address it has not published yet")
