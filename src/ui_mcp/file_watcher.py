"""Waits for inotify events below folders, so that an idle server does not poll.

An event only means that something may have changed; the caller compares the files. Without inotify the caller polls.
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
# From <sys/inotify.h>: every event that changes a folder or a file in it, and IN_ONLYDIR.
_MASK = 0xFCE | 0x01000000
_IS_FOLDER = 0x40000000
_OVERFLOW = 0x4000
_EVENT = struct.Struct("iIII")
_READ_BYTES = 65536

QUIET_SECONDS, LONGEST_SECONDS = 0.05, 0.5
"""Debounce: time without events after which a burst counts as over, and the longest time to wait for that."""

RESCAN_SECONDS = 10.0
"""Longest time between rescans; inotify misses changes that other hosts make on a shared disk."""


class InotifyWatch:
    """One inotify instance for some folders; `deep` includes all folders below them.

    Raises:
        OSError: the limit of inotify instances or watches is reached.
    """

    def __init__(self, folders: Iterable[Path], *, deep: bool) -> None:
        self._folders = frozenset(folders)
        self._deep = deep
        import ctypes

        self._libc, self._errno = ctypes.CDLL(None, use_errno=True), ctypes.get_errno
        self._descriptor: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(self._errno(), "No more watches can be made")
        try:
            self._add_all()
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        os.close(self._descriptor)

    async def wait_quiet(self, within: float, quiet: float, longest: float) -> bool:
        """Wait up to `within` seconds for an event, then until no event came for `quiet` seconds.

        Return True after a burst, which is waited for at most `longest` seconds; False if no event came.
        """
        if not await self._event_within(within):
            return False
        with move_on_after(longest):
            while await self._event_within(quiet):
                pass
        return True

    async def _event_within(self, seconds: float) -> bool:
        with move_on_after(seconds):
            await self._read_events()
            return True
        return False

    async def _read_events(self) -> None:
        await wait_readable(self._descriptor)
        with suppress(BlockingIOError):
            if _concern_folders(os.read(self._descriptor, _READ_BYTES)):
                self._add_all()  # inotify is not recursive: new folders need their own watches

    def _add_all(self) -> None:
        for folder in self._folders:
            self._add(folder)
            if self._deep:
                for parent, below, _ in os.walk(folder):
                    for name in below:
                        self._add(Path(parent, name))

    def _add(self, folder: Path) -> None:
        added = self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _MASK)
        if added < 0 and self._errno() == errno.ENOSPC:  # other errors: deleted meanwhile, or not readable
            raise OSError(errno.ENOSPC, "No more folders can be watched")


class Rest:
    """Sleeps between two scans of the same files: by inotify, or by polling every `poll` seconds."""

    def __init__(self, poll: float) -> None:
        self._poll = poll
        self._folders: frozenset[Path] | None = None
        self._watch: InotifyWatch | None = None

    async def wait_changed(self, files: Iterable[Path]) -> None:
        """Return when something in the folders of `files` may have changed.

        Returns at once if the folders differ from those of the previous call: changes before the watch began are
        unknown. Without inotify it returns after `poll` seconds.
        """
        folders = _folders_of(files)
        if folders != self._folders:
            self.close()
            self._folders, self._watch = folders, watch(folders, deep=False)
        elif self._watch is None:
            await sleep(self._poll)
        else:
            try:
                await self._watch.wait_quiet(RESCAN_SECONDS, QUIET_SECONDS, LONGEST_SECONDS)
            except OSError:  # a folder was recreated, and the limit of watches is reached
                self.close()

    def close(self) -> None:
        old, self._folders, self._watch = self._watch, None, None
        if old is not None:
            old.close()


def _folders_of(files: Iterable[Path]) -> frozenset[Path]:
    """Return the folders of the files, and those of the files that they link to."""
    return frozenset(folder for file in files for folder in (file.parent, Path(realpath(file)).parent))


def watch(folders: Iterable[Path], *, deep: bool) -> InotifyWatch | None:
    """Return a watch of `folders`, or None where inotify is not available."""
    # The same conditions under which watchfiles polls: by request, and on WSL, where inotify misses Windows' changes.
    if sys.platform != "linux" or "WATCHFILES_FORCE_POLLING" in os.environ or "microsoft" in os.uname().release.lower():
        return None
    try:
        return InotifyWatch(folders, deep=deep)
    except OSError as error:
        _log.info("inotify is not available, polling instead: %s", error)
        return None


def _concern_folders(events: bytes) -> bool:
    at = 0
    while at < len(events):
        _, mask, _, length = _EVENT.unpack_from(events, at)
        if mask & (_IS_FOLDER | _OVERFLOW):
            return True
        at += _EVENT.size + length
    return False


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file with new content: its real path, and every watched path that resolves to it."""

    path: Path
    names: frozenset[Path]
