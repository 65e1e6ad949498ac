"""Reports changed files: by inotify on Linux, so that an idle server does not poll, and by watchfiles elsewhere."""

import errno
import os
import struct
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from os.path import realpath
from pathlib import Path

from anyio import (
    Event,
    create_memory_object_stream,
    create_task_group,
    current_time,
    move_on_after,
    sleep,
    wait_readable,
)
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectSendStream

from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger

_log = logger("hints")
# From <sys/inotify.h>: every event that changes a folder or a file in it, and IN_ONLYDIR.
_MASK = 0xFCE | 0x01000000
_IS_FOLDER = 0x40000000
_WATCH_REMOVED = 0x8000
_EVENT = struct.Struct("iIII")
_READ_BYTES = 65536

QUIET_SECONDS, LONGEST_SECONDS = 0.05, 0.5
"""Debounce: time without events after which a burst counts as over, and the longest time to wait for that."""

SAVE_QUIET_SECONDS, SAVE_LONGEST_SECONDS = 0.02, 0.4
"""The same for `watching`, whose files are small and wanted at once."""

RESCAN_SECONDS = 10.0
"""Longest time between rescans; inotify misses changes that other hosts make on a shared disk."""

RESCAN_SHARE = 0.001
"""Share of the time that rescans may take: large trees are rescanned less often."""

Bursts = AsyncIterator[set[Path] | None]
"""The changed paths of each burst; None: any of the watched files may have changed."""


@asynccontextmanager
async def watching(deep: frozenset[Path], flat: frozenset[Path]) -> AsyncIterator[Bursts]:
    """Watch the folders of `deep` with everything below them, and those of `flat` alone, while the block runs.

    Raises:
        OSError: a folder cannot be watched; maybe in a group.
        RuntimeError: watchfiles failed; maybe in a group.
    """
    inotify = open_inotify(deep, flat)
    if inotify is None:
        async with _watchfiles(deep, flat) as bursts:
            yield bursts
    else:
        with closing(inotify):
            yield _inotify_bursts(inotify)


async def _inotify_bursts(inotify: "InotifyWatch") -> Bursts:
    rest = RESCAN_SECONDS
    while True:
        burst = await inotify.next_burst(rest, SAVE_QUIET_SECONDS, SAVE_LONGEST_SECONDS)
        began = current_time()
        yield burst or None
        if not burst:
            rest = max(RESCAN_SECONDS, (current_time() - began) / RESCAN_SHARE)


@asynccontextmanager
async def _watchfiles(deep: frozenset[Path], flat: frozenset[Path]) -> AsyncIterator[Bursts]:
    stop = Event()
    send, receive = create_memory_object_stream[set[Path] | None](0)
    async with send, receive, create_task_group() as tasks:
        tasks.start_soon(_forward_watchfiles, deep, True, stop, send)
        tasks.start_soon(_forward_watchfiles, flat, False, stop, send)
        await checkpoint()  # each task sets up its watch in its first step
        try:
            yield receive
        finally:
            stop.set()  # ends watchfiles' threads, which cancellation does not reach
            tasks.cancel_scope.cancel()


async def _forward_watchfiles(
    folders: frozenset[Path], deep: bool, stop: Event, send: MemoryObjectSendStream[set[Path] | None]
) -> None:
    from watchfiles import awatch  # takes 25 ms, and is not needed where inotify works

    watch = awatch(
        *(folder for folder in folders if folder.is_dir()),
        watch_filter=None,
        step=int(SAVE_QUIET_SECONDS * 1000),
        debounce=int(SAVE_LONGEST_SECONDS * 1000),
        rust_timeout=int(RESCAN_SECONDS * 1000),
        yield_on_timeout=True,
        recursive=deep,
        stop_event=stop,
    )
    async for found in watch:
        await send.send({Path(path) for _, path in found} or None)


class InotifyWatch:
    """One inotify instance for folders with everything below them, through links too, and for folders alone.

    Raises:
        OSError: the limit of inotify instances or watches is reached.
    """

    def __init__(self, deep: Iterable[Path], flat: Iterable[Path]) -> None:
        self._roots = frozenset(deep)
        self._flat = frozenset(flat)
        self._watched: dict[int, Path] = {}
        """Folders by watch descriptor."""
        self._deep: set[int] = set()
        """Descriptors of the folders whose new folders are watched too."""
        self._events_lost = False
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

    async def next_burst(self, within: float, quiet: float, longest: float) -> set[Path]:
        """Wait up to `within` seconds for a change, then until nothing changed for `quiet` seconds.

        Return the paths that changed in at most `longest` seconds. None changed, or it is not known which, if the
        result is empty.
        """
        changed = await self._events_within(within)
        with move_on_after(longest):
            while changed and (more := await self._events_within(quiet)):
                changed |= more
        if not changed or self._events_lost:
            self._events_lost = False
            self._add_all()  # a folder that was deleted may be back
            return set()
        return changed

    async def _events_within(self, seconds: float) -> set[Path]:
        with move_on_after(seconds):
            await wait_readable(self._descriptor)
        return self._read_events()

    def _read_events(self) -> set[Path]:
        try:
            data = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return set()
        return {self._take(*event) for event in _parse_events(data)}

    def _take(self, descriptor: int, mask: int, name: str) -> Path:
        """Return the path of an event, and watch it if it is a new folder below a deep one."""
        folder = self._watched.get(descriptor)
        if folder is None:  # the queue overflowed, or the event belongs to a watch that was removed
            self._events_lost = True
            return Path()
        path = folder / name
        if mask & _WATCH_REMOVED:
            del self._watched[descriptor]
            self._deep.discard(descriptor)
        elif mask & _IS_FOLDER and descriptor in self._deep:
            self._add_tree(path)  # inotify is not recursive: new folders need their own watches
        return path

    def _add_all(self) -> None:
        for folder in self._flat:
            self._add(folder)
        for folder in self._roots:
            self._add_tree(folder)

    def _add_tree(self, folder: Path) -> None:
        self._deep |= {descriptor for found in _tree(folder) if (descriptor := self._add(found)) is not None}

    def _add(self, folder: Path) -> int | None:
        added: int = self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _MASK)
        if added >= 0:
            self._watched[added] = folder
            return added
        if self._errno() == errno.ENOSPC:  # other errors: deleted meanwhile, or not readable
            raise OSError(errno.ENOSPC, "No more folders can be watched")
        return None


def _tree(folder: Path) -> Iterator[Path]:
    """Yield a folder and all folders below it, through links, each once."""
    seen: set[tuple[int, int]] = set()
    left = [folder]
    while left:
        current = left.pop()
        with suppress(OSError):  # deleted meanwhile, or not readable
            identity = current.stat()
            if (identity.st_dev, identity.st_ino) not in seen:
                seen.add((identity.st_dev, identity.st_ino))
                yield current
                left += [Path(entry) for entry in os.scandir(current) if entry.is_dir()]


def _parse_events(data: bytes) -> Iterator[tuple[int, int, str]]:
    at = 0
    while at < len(data):
        descriptor, mask, _, length = _EVENT.unpack_from(data, at)
        name_at = at + _EVENT.size
        at = name_at + length
        yield descriptor, mask, os.fsdecode(data[name_at:at].rstrip(b"\0"))


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
            self._folders, self._watch = folders, open_inotify((), folders)
        elif self._watch is None:
            await sleep(self._poll)
        else:
            try:
                await self._watch.next_burst(RESCAN_SECONDS, QUIET_SECONDS, LONGEST_SECONDS)
            except OSError:  # a folder was recreated, and the limit of watches is reached
                self.close()

    def close(self) -> None:
        old, self._folders, self._watch = self._watch, None, None
        if old is not None:
            old.close()


def _folders_of(files: Iterable[Path]) -> frozenset[Path]:
    """Return the folders of the files, and those of the files that they link to."""
    return frozenset(folder for file in files for folder in (file.parent, Path(realpath(file)).parent))


def open_inotify(deep: Iterable[Path], flat: Iterable[Path]) -> InotifyWatch | None:
    """Return a watch of these folders, or None where inotify is not available."""
    # The same conditions under which watchfiles polls: by request, and on WSL, where inotify misses Windows' changes.
    if sys.platform != "linux" or "WATCHFILES_FORCE_POLLING" in os.environ or "microsoft" in os.uname().release.lower():
        return None
    try:
        return InotifyWatch(deep, flat)
    except OSError as error:
        _log.info("inotify is not available, polling instead: %s", error)
        return None


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file with new content: its real path, and every watched path that resolves to it."""

    path: Path
    names: frozenset[Path]
