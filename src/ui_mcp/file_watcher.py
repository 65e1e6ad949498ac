"""Sleeps until the kernel says that something below some folders stirred, so that nobody looks at a quiet disk.

Only a hint: who gets it looks what changed. Where inotify cannot be had there is none, and they look all the time.
"""

import errno
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path

from anyio import move_on_after, sleep, wait_readable

from ui_mcp.log import logger

_log = logger("hints")
_MASK = 0xFCE | 0x01000000  # whatever alters a folder or a file in it; only folders
_IS_FOLDER = 0x40000000
_OVERFLOW = 0x4000
_HEAD = struct.Struct("iIII")
_ENOUGH = 65536

QUIET_SECONDS, LONGEST_SECONDS = 0.05, 0.5
"""How long a folder is left alone after something stirred in it, and how long at most."""

RESCAN_SECONDS = 10.0
"""How long who rests goes without looking: other machines' changes of a shared disk are not noted."""


class InotifyWatch:
    """The kernel's notes about some folders, with everything below them or not."""

    def __init__(self, folders: Iterable[Path], *, deep: bool) -> None:
        self._folders = frozenset(folders)
        self._deep = deep
        import ctypes

        self._libc, self._errno = ctypes.CDLL(None, use_errno=True), ctypes.get_errno
        self._notes: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._notes < 0:
            raise OSError(self._errno(), "No more watches can be made")
        try:
            self._mark()
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Forget the folders."""
        os.close(self._notes)

    async def wait_quiet(self, within: float, quiet: float, longest: float) -> bool:
        """Return True once something stirred and then nothing for `quiet` seconds, or the burst took the `longest`.

        Return False when nothing stirs `within` some seconds.
        """
        if not await self._noted_within(within):
            return False
        with move_on_after(longest):
            while await self._noted_within(quiet):
                pass
        return True

    async def _noted_within(self, seconds: float) -> bool:
        with move_on_after(seconds):
            await self._noted()
            return True
        return False

    async def _noted(self) -> None:
        await wait_readable(self._notes)
        with suppress(BlockingIOError):
            if _tells_of_folders(os.read(self._notes, _ENOUGH)):
                self._mark()

    def _mark(self) -> None:
        for folder in self._folders:
            self._add(folder)
            if self._deep:
                for parent, below, _ in os.walk(folder):
                    for name in below:
                        self._add(Path(parent, name))

    def _add(self, folder: Path) -> None:
        added = self._libc.inotify_add_watch(self._notes, os.fsencode(folder), _MASK)
        if added < 0 and self._errno() == errno.ENOSPC:  # else it is gone again, or not ours to read
            raise OSError(errno.ENOSPC, "No more folders can be watched")


class Rest:
    """Sleeps between two looks at the same files."""

    def __init__(self, poll: float) -> None:
        self._poll = poll
        self._folders: frozenset[Path] | None = None
        self._notes: InotifyWatch | None = None

    async def wait_changed(self, files: Iterable[Path]) -> None:
        """Return when something beside these files stirred; at once when they were not watched until now.

        Where the kernel makes no notes it is time to look after `poll` seconds.
        """
        folders = _folders_of(files)
        if folders != self._folders:
            self.close()
            self._folders, self._notes = folders, watch(folders, deep=False)
        elif self._notes is None:
            await sleep(self._poll)
        else:
            try:
                await self._notes.wait_quiet(RESCAN_SECONDS, QUIET_SECONDS, LONGEST_SECONDS)
            except OSError:  # a folder was made anew, and no more can be watched
                self.close()

    def close(self) -> None:
        """Forget the folders."""
        notes, self._folders, self._notes = self._notes, None, None
        if notes is not None:
            notes.close()


def _folders_of(files: Iterable[Path]) -> frozenset[Path]:
    """Return where files are, and where they lead to as links."""
    return frozenset(folder for file in files for folder in (file.parent, Path(realpath(file)).parent))


def watch(folders: Iterable[Path], *, deep: bool) -> InotifyWatch | None:
    """Return the kernel's notes, or None where it makes none."""
    # Where watchfiles does without inotify (it is told to, or runs under Windows' Linux) so do we.
    if sys.platform != "linux" or "WATCHFILES_FORCE_POLLING" in os.environ or "microsoft" in os.uname().release.lower():
        return None
    try:
        return InotifyWatch(folders, deep=deep)
    except OSError as error:
        _log.info("Watching files without hints: %s", error)
        return None


def _tells_of_folders(notes: bytes) -> bool:
    at = 0
    while at < len(notes):
        _, mask, _, length = _HEAD.unpack_from(notes, at)
        if mask & (_IS_FOLDER | _OVERFLOW):
            return True
        at += _HEAD.size + length
    return False


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file with new content: where it really lies, and every watched path that leads to it."""

    path: Path
    names: frozenset[Path]
