"""Watches the Lua files and viewdefs of a workspace and says which ones were saved.

Paths are followed through links: an app may live elsewhere and be linked into `apps/`, `lua/` or `viewdefs/`.
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
"""A file is read once nothing has happened for this long."""

LONGEST_BURST_MS = 400

CALM_MS = 5000
"""After so much quiet the watcher rests between the kernel's hints."""

LOOK_MS = 2

LOOKS = 25
"""How often the watcher is asked after a hint before it rests again: its own notes may come later."""

SOON_SECONDS, NET_SECONDS = 0.25, 10.0
"""How long it rests without a hint: after a change, and else."""

RETRY_SECONDS = 2.0
_log = logger("hotload")


@dataclass(frozen=True, slots=True)
class Roots:
    """What has to be watched: folders with everything below them, and folders of linked files."""

    deep: frozenset[Path]
    flat: frozenset[Path]
    links: dict[Path, frozenset[Path]] = field(compare=False)
    """Real path → the links leading to it."""


def find_roots(workspace: Workspace) -> Roots:
    """Collect the watched folders and where their links lead."""
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
    """Return the real Lua and viewdef files among `paths`; a folder stands for all files below it."""
    found: set[Path] = set()
    for path in paths:
        inside = list(path.rglob("*")) if path.is_dir() else [path]
        found |= {Path(realpath(file)) for file in inside if file.suffix in SUFFIXES and file.is_file()}
    return found


class Contents:
    """Remembers what files held, so that a touched or twice reported file counts once."""

    def __init__(self) -> None:
        self._seen: dict[Path, bytes] = {}

    def changed_files(self, files: Iterable[Path]) -> list[Path]:
        """Return the files that hold something else than last time; an empty one is still being written."""
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
    """Calls `on_saved` with the files of each burst; make it before the files are first loaded."""

    def __init__(self, workspace: Workspace, on_saved: Callable[[list[SavedFile]], Awaitable[None]]) -> None:
        self._workspace = workspace
        self._on_saved = on_saved
        self._roots = find_roots(workspace)
        self._calm = False
        self._looking = Lock()
        """Of two who look at the same time both would find the same news."""
        self._contents = Contents()
        self._contents.changed_files(files_in(self._roots.deep | self._linked_files()))

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Watch until cancelled; reports started once no later save can be missed."""
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
            await checkpoint()  # the watches stand after the first step of each task
            await self._look(self._roots.deep | self._linked_files())
            task_status.started()
            if self._roots_moved():  # a link was made before the watches stood
                stop.set()
            await stop.wait()

    async def _pump(self, folders: frozenset[Path], deep: bool, stop: Event) -> None:
        hints = watch(folders, deep=deep) if self._calm else None
        watching = awatch(
            *folders,
            watch_filter=None,
            step=QUIET_MS if hints is None else LOOK_MS,
            debounce=LONGEST_BURST_MS,
            rust_timeout=CALM_MS if hints is None else QUIET_MS,
            yield_on_timeout=True,
            recursive=deep,
            stop_event=stop,
        )
        try:
            looks, told = 0, True
            async for changes in watching:
                await self._take({Path(path) for change, path in changes if change is not Change.deleted}, stop)
                looks, told = (0, True) if changes else (looks - 1, told)
                if hints is None:
                    self._calm_down(stop, bool(changes))
                elif looks <= 0:
                    if not told:  # it knows a new folder some time after it has told of it
                        await self._look(folders if deep else self._linked_files())
                    stirred = await _rested(hints, stop, SOON_SECONDS if changes else NET_SECONDS)
                    looks, told = (LOOKS, False) if stirred else (1, True)
        except (OSError, RuntimeError) as error:
            _log.warning("Cannot watch %s: %s; trying again", ", ".join(map(str, folders)), error)
            await sleep(RETRY_SECONDS)
            stop.set()
        finally:
            if hints is not None:
                hints.close()

    def _calm_down(self, stop: Event, busy: bool) -> None:
        """Begin anew, with hints, after the first quiet time: a server that starts has better things to read."""
        if not self._calm and not busy:
            self._calm = True
            stop.set()

    async def _take(self, paths: set[Path], stop: Event) -> None:
        if paths:
            await self._look(paths)
        if any(path.is_symlink() or path.is_dir() for path in paths) and self._roots_moved():
            stop.set()

    async def _look(self, paths: Iterable[Path]) -> None:
        try:
            async with self._looking:
                files = await to_thread.run_sync(lambda: self._contents.changed_files(files_in(paths)))
                if files:
                    await self._on_saved([SavedFile(file, names_of(file, self._roots)) for file in files])
        except Exception:  # noqa: BLE001 — a file nobody can read must not end the watch, nor the server
            _log.exception("Cannot load what was saved")

    def _roots_moved(self) -> bool:
        before, self._roots = self._roots, find_roots(self._workspace)
        return before != self._roots

    def _linked_files(self) -> frozenset[Path]:
        return frozenset(path for path in self._roots.links if path.is_file())


async def _set_when_cancelled(stop: Event) -> None:
    # awatch waits in a thread that cancelling does not reach; only the event ends it.
    try:
        await sleep_forever()
    finally:
        stop.set()


async def _rested(hints: InotifyWatch, stop: Event, longest: float) -> bool:
    """Let the watcher, which looks at its notes all the time, rest; return whether something stirred."""
    stirred = False
    async with create_task_group() as group:
        group.start_soon(_cancel_on, stop, group.cancel_scope)
        stirred = await hints.wait_quiet(longest, QUIET_MS / 1000, LONGEST_BURST_MS / 1000)
        group.cancel_scope.cancel()
    return stirred


async def _cancel_on(stop: Event, scope: CancelScope) -> None:
    await stop.wait()
    scope.cancel()
