"""Watches the Lua files and viewdefs of a workspace and reports the saved ones.

Links are followed: an app may live elsewhere and be linked into `apps/`, `lua/` or `viewdefs/`.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from os import walk
from os.path import realpath
from pathlib import Path

from anyio import TASK_STATUS_IGNORED, CancelScope, Event, Lock, create_task_group, sleep, sleep_forever, to_thread
from anyio.abc import TaskStatus
from anyio.lowlevel import checkpoint
from watchfiles import Change, awatch

from ui_mcp.file_watcher import InotifyWatch, SavedFile, watch
from ui_mcp.log import logger
from ui_mcp.workspace import Workspace

SUFFIXES = frozenset({".lua", ".html"})

QUIET_MS = 20
"""A file is read once nothing has changed for this long."""

LONGEST_BURST_MS = 400
"""Longest time that changes are collected before they are reported."""

IDLE_MS = 5000
"""After this time without changes, the watcher sleeps between inotify events."""

POLL_MS = 2

MAX_POLLS = 25
"""Polls of watchfiles after an inotify event before it sleeps again; it may report the change later than inotify."""

SOON_SECONDS, RESCAN_SECONDS = 0.25, 10.0
"""Longest sleep without an inotify event: after a change, and otherwise (fallback poll)."""

RETRY_SECONDS = 2.0
_log = logger("hotload")


@dataclass(frozen=True, slots=True)
class Roots:
    """What to watch: folders with everything below them, and folders of linked files."""

    deep: frozenset[Path]
    flat: frozenset[Path]
    links: dict[Path, frozenset[Path]] = field(compare=False)
    """Resolved path → the links that lead to it."""


def find_roots(workspace: Workspace) -> Roots:
    """Collect the watched folders and the targets of their links."""
    own = frozenset(folder for folder in (workspace.apps, workspace.lua, workspace.viewdefs) if folder.is_dir())
    links: dict[Path, set[Path]] = {}
    for link in (link for folder in own for link in _links_below(folder)):
        target = Path(realpath(link))
        if target.exists():
            links.setdefault(target, set()).add(link)
    outside = [target for target in links if not any(target.is_relative_to(folder) for folder in own)]
    return Roots(
        deep=own | {target for target in outside if target.is_dir()},
        flat=frozenset(target.parent for target in outside if target.is_file()),
        links={target: frozenset(found) for target, found in links.items()},
    )


def _links_below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for parent, folders, files in walk(folder):
        found += [path for path in (Path(parent, name) for name in (*folders, *files)) if path.is_symlink()]
    return found


def names_of(real: Path, roots: Roots) -> frozenset[Path]:
    """Return every watched path that leads to `real`, through links to the file or to a folder above it."""
    names = {real}
    for above in (real, *real.parents):
        names |= {link / real.relative_to(above) for link in roots.links.get(above, ())}
    return frozenset(names)


def files_in(paths: Iterable[Path]) -> set[Path]:
    """Return the resolved Lua and viewdef files among `paths`; a folder stands for all files below it."""
    found: set[Path] = set()
    for path in paths:
        inside = list(path.rglob("*")) if path.is_dir() else [path]
        found |= {Path(realpath(file)) for file in inside if file.suffix in SUFFIXES and file.is_file()}
    return found


class Contents:
    """Remembers digests of files, so that a file that was only touched, or reported twice, counts once."""

    def __init__(self) -> None:
        self._seen: dict[Path, bytes] = {}

    def changed_files(self, files: Iterable[Path]) -> list[Path]:
        """Return the files whose content changed since the last call; empty ones count as still being written."""
        return [file for file in sorted(files) if self._is_new(file)]

    def _is_new(self, file: Path) -> bool:
        try:
            content = file.read_bytes()
        except OSError:
            return False
        if not content.strip():
            return False
        digest = sha256(content).digest()
        known = self._seen.get(file)
        self._seen[file] = digest
        return digest != known


class HotReloader:
    """Calls `on_saved` with the files of each burst; create it before the files are first loaded."""

    def __init__(self, workspace: Workspace, on_saved: Callable[[list[SavedFile]], Awaitable[None]]) -> None:
        self._workspace = workspace
        self._on_saved = on_saved
        self._roots = find_roots(workspace)
        self._idle = False
        self._scan_lock = Lock()
        """Two concurrent scans would report the same change twice."""
        self._contents = Contents()
        self._contents.changed_files(files_in(self._roots.deep | self._linked_files()))

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Watch until cancelled; report started once no later save can be missed."""
        while True:
            stop = Event()
            async with create_task_group() as group:
                group.start_soon(_set_when_cancelled, stop)
                await self._watch_until(stop, task_status)
                group.cancel_scope.cancel()
            task_status = TASK_STATUS_IGNORED
            self._roots = find_roots(self._workspace)

    async def _watch_until(self, stop: Event, task_status: TaskStatus[None]) -> None:
        async with create_task_group() as pumps:
            for folders, deep in ((self._roots.deep, True), (self._roots.flat, False)):
                if folders:
                    pumps.start_soon(self._pump, folders, deep, stop)
            await checkpoint()  # each task sets up its watch in its first step
            await self._scan(self._roots.deep | self._linked_files())
            task_status.started()
            if self._roots_changed():  # a link was created before the watches were set up
                stop.set()
            await stop.wait()

    async def _pump(self, folders: frozenset[Path], deep: bool, stop: Event) -> None:
        inotify = watch(folders, deep=deep) if self._idle else None
        watching = awatch(
            *folders,
            watch_filter=None,
            step=QUIET_MS if inotify is None else POLL_MS,
            debounce=LONGEST_BURST_MS,
            rust_timeout=IDLE_MS if inotify is None else QUIET_MS,
            yield_on_timeout=True,
            recursive=deep,
            stop_event=stop,
        )
        try:
            polls, reported = 0, True
            async for changes in watching:
                await self._handle({Path(path) for change, path in changes if change is not Change.deleted}, stop)
                polls, reported = (0, True) if changes else (polls - 1, reported)
                if inotify is None:
                    self._switch_to_inotify(stop, bool(changes))
                elif polls <= 0:
                    if not reported:  # watchfiles watches a new folder only some time after reporting it
                        await self._scan(folders if deep else self._linked_files())
                    changed = await _wait_changed(inotify, stop, SOON_SECONDS if changes else RESCAN_SECONDS)
                    polls, reported = (MAX_POLLS, False) if changed else (1, True)
        except (OSError, RuntimeError) as error:
            _log.warning("Cannot watch %s: %s; trying again", ", ".join(map(str, folders)), error)
            await sleep(RETRY_SECONDS)
            stop.set()
        finally:
            if inotify is not None:
                inotify.close()

    def _switch_to_inotify(self, stop: Event, busy: bool) -> None:
        """Restart with inotify after the first quiet period, so that its setup does not slow down the start."""
        if not self._idle and not busy:
            self._idle = True
            stop.set()

    async def _handle(self, paths: set[Path], stop: Event) -> None:
        if paths:
            await self._scan(paths)
        if any(path.is_symlink() or path.is_dir() for path in paths) and self._roots_changed():
            stop.set()

    async def _scan(self, paths: Iterable[Path]) -> None:
        try:
            async with self._scan_lock:
                files = await to_thread.run_sync(lambda: self._contents.changed_files(files_in(paths)))
                if files:
                    await self._on_saved([SavedFile(file, names_of(file, self._roots)) for file in files])
        except Exception:  # noqa: BLE001 — an unreadable file must not end the watch, nor the server
            _log.exception("Cannot load the saved files")

    def _roots_changed(self) -> bool:
        before, self._roots = self._roots, find_roots(self._workspace)
        return before != self._roots

    def _linked_files(self) -> frozenset[Path]:
        return frozenset(path for path in self._roots.links if path.is_file())


async def _set_when_cancelled(stop: Event) -> None:
    # awatch blocks in a thread that cancellation does not reach; only the event ends it.
    try:
        await sleep_forever()
    finally:
        stop.set()


async def _wait_changed(inotify: InotifyWatch, stop: Event, longest: float) -> bool:
    """Sleep instead of letting watchfiles poll its queue all the time; return whether inotify reported an event."""
    changed = False
    async with create_task_group() as group:
        group.start_soon(_cancel_on, stop, group.cancel_scope)
        changed = await inotify.wait_quiet(longest, QUIET_MS / 1000, LONGEST_BURST_MS / 1000)
        group.cancel_scope.cancel()
    return changed


async def _cancel_on(stop: Event, scope: CancelScope) -> None:
    await stop.wait()
    scope.cancel()
