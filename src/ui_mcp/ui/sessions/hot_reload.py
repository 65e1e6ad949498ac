"""Watches the Lua files and viewdefs of a workspace and reports the saved ones.

Links are followed: an app may live elsewhere and be linked into `apps/`, `lua/` or `viewdefs/`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from os import walk
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import TASK_STATUS_IGNORED, Lock, create_task_group, sleep, to_thread
from anyio.abc import TaskStatus

from ui_mcp.file_watcher import SavedFile, watching
from ui_mcp.log import logger
from ui_mcp.lua_runtime.interface import Reply
from ui_mcp.ui.viewdef_store import Reloaded
from ui_mcp.wire import Op
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.ui.sessions.session import Session

SUFFIXES = frozenset({".lua", ".html"})

RETRY_SECONDS = 2.0
_log = logger("hotload")
_sessions_log = logger("sessions")


async def call_all(sessions: "Iterable[Session]", op: Op, text: str) -> bool:
    """Run an operation in every session at once; log their errors and return whether there were none."""
    replies: list[Reply | None] = []

    async def call(session: "Session") -> None:
        replies.append(await session.call_and_log(op, text))

    async with create_task_group() as group:
        for session in sessions:
            group.start_soon(call, session)
    return all(reply is not None and reply.fault is None for reply in replies)


def log_reload(workspace: Workspace, files: Iterable[Path], viewdefs: Reloaded) -> None:
    """Log which files are live now, and which viewdefs are not; sessions log what is wrong with code."""
    broken = {Path(problem["file"]): problem["message"] for problem in viewdefs.problems}
    if live := [workspace.name_of(file) for file in files if file not in broken]:
        _sessions_log.info("reloaded %s", ", ".join(live))
    for file, message in broken.items():
        _sessions_log.info("reload of %s failed: %s", workspace.name_of(file), message)


@dataclass(frozen=True, slots=True)
class Roots:
    """What to watch: folders with everything below them, and others for some files or folders in them."""

    deep: frozenset[Path]
    flat: frozenset[Path]
    """Folders of linked files, and the base directory, in which the folders may appear."""
    links: dict[Path, frozenset[Path]] = field(compare=False)
    """Resolved path → the links that lead to it."""


def find_roots(workspace: Workspace) -> Roots:
    """Collect the watched folders and the targets of their links."""
    own = frozenset(folder for folder in (workspace.apps, workspace.lua, workspace.viewdefs) if folder.is_dir())
    links = _by_target(link for folder in own for link in _links_below(folder))
    outside = [target for target in links if not any(target.is_relative_to(folder) for folder in own)]
    return Roots(
        deep=own | {target for target in outside if target.is_dir()},
        flat=frozenset({workspace.base, *(target.parent for target in outside if target.is_file())}),
        links=links,
    )


def _by_target(links: Iterable[Path]) -> dict[Path, frozenset[Path]]:
    """Return the links to each existing target."""
    found: dict[Path, frozenset[Path]] = {}
    for link in links:
        target = Path(realpath(link))
        if target.exists():
            found[target] = found.get(target, frozenset()) | {link}
    return found


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
            self._seen.pop(file, None)
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
        self._started = False
        self._lock = Lock()
        self._contents = Contents()
        self._contents.changed_files(files_in(self._roots.deep | self._linked_files()))

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Watch until cancelled; report started once no later save can be missed."""
        while True:
            try:
                await self._watch_roots(task_status)
            except* (OSError, RuntimeError) as error:
                _log.warning("Cannot watch for saved files: %s; trying again", error.exceptions[0])
                self._report_started(task_status)
                await sleep(RETRY_SECONDS)
            await self._roots_changed()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[Callable[[Iterable[Path]], Awaitable[None]]]:
        """Load nothing by itself while the block writes files; yield the function that loads the written ones."""
        async with self._lock:
            yield self._load_written

    async def _load_written(self, paths: Iterable[Path]) -> None:
        files = await to_thread.run_sync(self._written, list(paths))
        await self._on_saved([SavedFile(file, names_of(file, self._roots)) for file in files])

    def _written(self, given: list[Path]) -> list[Path]:
        """Return the deleted files and those with new content; later reports of the watch do not count again."""
        paths = {Path(realpath(path)) for path in given}
        gone = [path for path in paths if path.suffix in SUFFIXES and not path.exists()]
        return [*gone, *self._contents.changed_files({*files_in(paths - {*gone}), *gone})]

    def _report_started(self, task_status: TaskStatus[None]) -> None:
        if not self._started:
            self._started = True
            task_status.started()

    async def _watch_roots(self, task_status: TaskStatus[None]) -> None:
        """Watch until the roots change."""
        async with watching(self._roots.deep, self._roots.flat) as bursts:
            await self._scan(None)
            self._report_started(task_status)
            if await self._roots_changed():  # by a link that was created before the watches were set up
                return
            async for paths in bursts:
                await self._scan(paths)
                if await self._need_new_watches(paths):
                    return

    async def _scan(self, paths: set[Path] | None) -> None:
        try:
            async with self._lock:
                files = await to_thread.run_sync(self._changed_files, paths)
                if files:
                    await self._on_saved([SavedFile(file, names_of(file, self._roots)) for file in files])
        except Exception:  # noqa: BLE001 — an unreadable file must not end the watch, nor the server
            _log.exception("Cannot load the saved files")

    def _changed_files(self, paths: set[Path] | None) -> list[Path]:
        """Return the files with new content among `paths`; None stands for everything that is watched."""
        found: Iterable[Path] = self._roots.deep | self._linked_files()
        if paths is not None:
            found = [path for path in paths if path in found or any(map(path.is_relative_to, self._roots.deep))]
        return self._contents.changed_files(files_in(found))

    async def _need_new_watches(self, paths: set[Path] | None) -> bool:
        if paths is None:
            return await self._roots_changed()
        if not paths.isdisjoint(self._roots.deep | self._roots.flat):
            return True  # deleted or created: even if it is back, its watch is gone
        return any(path.is_symlink() or path.is_dir() for path in paths) and await self._roots_changed()

    async def _roots_changed(self) -> bool:
        before = self._roots
        self._roots = await to_thread.run_sync(find_roots, self._workspace)
        return before != self._roots

    def _linked_files(self) -> frozenset[Path]:
        return frozenset(path for path in self._roots.links if path.is_file())
