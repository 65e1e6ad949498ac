"""UiServer and its states: unconfigured → configured ⇄ running."""

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
from anyio.abc import TaskGroup, TaskStatus

from ui_mcp import config as settings
from ui_mcp.discovery import lazy
from ui_mcp.errors import (
    AlreadyRunningError,
    ConfigError,
    DiskError,
    InstallError,
    NotConfiguredError,
    NotStartedError,
    RefusedError,
    UiMcpError,
)
from ui_mcp.files import PRIVATE, LinkError, make_private, open_inside
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger, set_verbosity, stop_file, to_file
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.ui.base_dir.file_layout import foreign_product
from ui_mcp.ui.base_dir.installer import install, needs_install, outdated
from ui_mcp.ui.directories import Directories
from ui_mcp.ui.instance import exclusive, joined_server, other_server
from ui_mcp.ui.own_files import finish_edits, settle
from ui_mcp.ui.states import Configured, Running, State, Unconfigured, pending_status
from ui_mcp.ui.tool_groups import ToolGroups, ToolList, setting_of
from ui_mcp.version import bundled_version
from ui_mcp.workspace import Workspace, default_dir

if TYPE_CHECKING:
    from ui_mcp.chat.announcer import NewMessages
    from ui_mcp.introspection.targets import TargetRegistry, target_folder
    from ui_mcp.ui.chat import Chats
    from ui_mcp.ui.introspected import served_ui
else:  # importing chat and introspection would delay the server's first answer
    TargetRegistry = lazy("ui_mcp.introspection.targets:TargetRegistry")
    target_folder = lazy("ui_mcp.introspection.targets:target_folder")
    Chats = lazy("ui_mcp.ui.chat:Chats")
    served_ui = lazy("ui_mcp.ui.introspected:served_ui")


_log = logger("host")


def prepare(base_dir: str, flags: JsonObject, environment: Mapping[str, str] | None = None) -> Configured:
    """Return the configuration of `base_dir`, creating and installing what is missing.

    Raises:
        ConfigError: the directory cannot be used, or its configuration file is wrong.
    """
    workspace = Workspace.at(base_dir)
    try:
        fresh = needs_install(workspace)
        _make_folders(workspace)
        settle(workspace)
        finish_edits(workspace)
    except OSError as error:
        raise ConfigError(f"cannot use base_dir {base_dir}: {reason(error)}", base_dir=base_dir) from error
    config = settings.load(workspace.config_file, flags=flags, environment=environment)
    for key in settings.unknown_keys(workspace.config_file):
        _log.warning("%s: ignored unknown setting %s", workspace.config_file, key)
    stop_file()
    _unless_linked(partial(_make_log, workspace, "mcp.log"))
    _unless_linked(partial(to_file, workspace.log / "mcp.log"))
    if stale := outdated(workspace):
        _log.warning("%s", stale)
    if product := foreign_product(workspace):
        _log.info("%s was made by %s; the page of ui-mcp is served instead of its own", workspace.given, product)
    if config.logging.verbosity:
        set_verbosity(config.logging.verbosity)
    _log.info("ui-mcp %s uses %s", bundled_version(), workspace.base)
    pending = tuple(settings.pending(workspace.config_file))
    return Configured(workspace, config, _install(workspace) if fresh else None, pending)


def _make_folders(workspace: Workspace) -> None:
    for folder in (workspace.base, *workspace.folders):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if folder in workspace.private else 0o777)
    for folder in workspace.private:
        make_private(folder)
    for folder in (workspace.base, *([] if workspace.log.is_symlink() else [workspace.log])):
        _require_writable(folder)
    for name in ("lua.log", "lua-err.log"):
        _unless_linked(partial(_make_log, workspace, name))


def reason(error: OSError) -> str:
    """Return the system's message, with the name of the path."""
    blocked = isinstance(error, FileExistsError | NotADirectoryError)
    text = "a file is in the way" if blocked else error.strerror or str(error)
    return f"{text} ({Path(os.fsdecode(error.filename)).name})" if error.filename else text


def _make_log(workspace: Workspace, name: str) -> None:
    descriptor = open_inside(workspace.base, workspace.log / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if os.name == "posix":
            os.fchmod(descriptor, PRIVATE)
    finally:
        os.close(descriptor)


def _unless_linked(make: Callable[[], None]) -> None:
    """Skip a log whose path is a link; its target is never written."""
    try:
        make()
    except LinkError as error:
        _log.warning("%s %s; nothing is written there", error.filename, error.strerror)


def _install(workspace: Workspace) -> str | None:
    try:
        install(workspace)
    except InstallError as error:
        _log.warning("automatic installation: %s", error.message)
        return error.message
    return None


def _require_writable(folder: Path) -> None:
    # Permission bits do not apply to root or network drives, so try to write.
    with tempfile.TemporaryFile(dir=folder):
        pass


Serve = Callable[[Configured], AbstractAsyncContextManager[Running]]
"""Opens sessions and listeners for a configuration, and closes them again."""


class UiServer:
    """Holds the server's state and its transitions; an async context manager that ends everything it runs."""

    def __init__(
        self,
        serve: Serve,
        flags: JsonObject | None = None,
        announcements: Announcements | None = None,
        directories: tuple[str, ...] = (),
    ) -> None:
        self._announcements = announcements or Announcements()
        self._serve = serve
        self._flags = flags or {}
        self._directories = Directories(directories)
        self._state: State = Unconfigured("", "not configured yet")
        self.tool_groups = ToolGroups(self._announcements)
        self._lock = anyio.Lock()
        self._first_configured = anyio.Event()
        self._moved = anyio.Event()
        self._stop = anyio.Event()
        self._stopped = anyio.Event()
        self._tasks: TaskGroup
        self.on_new_messages: Callable[[NewMessages], object] = lambda _: None
        """Called with people's messages while the chat is open; returns whether an agent received them."""
        self.on_pointed: Callable[[str, str], object] = lambda _target, _words: None
        self.gateway: Toolset | None = None
        """Tools of mounted servers and APIs, while they are open."""
        self.resumes = False
        """Whether the next start continues the session of a server that was killed."""
        self.clients: Callable[[], list[Json]] = list
        """Returns the clients that have joined this server over its socket."""

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._stop.set()
        if "targets" in vars(self):
            await self.targets.close()
        if "chats" in vars(self):
            self.chats.close()
        return await self._tasks.__aexit__(kind, error, trace)

    @cached_property
    def chats(self) -> "Chats":
        """The chat of the current base directory."""
        forward = lambda new: self.on_new_messages(new)  # noqa: E731, PLW0108 - it is replaced while the chat is open
        return Chats(self.configured, self._announcements, self._tasks, forward)

    def cancel_chat_waiters(self) -> None:
        """Cancel blocked chat reads before the listeners close."""
        if "chats" in vars(self):
            self.chats.cancel_waiters()

    @cached_property
    def targets(self) -> "TargetRegistry":
        """The UIs that introspection can inspect and operate."""
        return TargetRegistry(
            lambda: self.configured().config,
            lambda: target_folder(self.configured().workspace),
            lambda: served_ui(self.configured()),
            lambda target, words: self.on_pointed(target, words),  # noqa: PLW0108 - a start sets another one
        )

    @property
    def state(self) -> State:
        return self._state

    def configured(self) -> Configured | Running:
        """Return the configuration.

        Raises:
            NotConfiguredError: start-up configuration failed.
        """
        if isinstance(self._state, Unconfigured):
            raise NotConfiguredError(f"Server not configured\n{self._state.reason}")
        return self._state

    def next_config(self) -> settings.Config:
        """Read the settings that the next start would use; a ConfigError tells of an invalid value."""
        return settings.load(self.configured().workspace.config_file, flags=self._flags)

    def running(self) -> Running:
        """Return the running state.

        Raises:
            NotConfiguredError: start-up configuration failed.
            NotStartedError: `ui_start` has not been called.
        """
        state = self.configured()
        if isinstance(state, Configured):
            raise NotStartedError
        return state

    def tool_list(self) -> ToolList:
        """Return which tools to list; found before the start-up configuration is done, so that a list need not wait."""
        if isinstance(self._state, Unconfigured):
            return setting_of(Workspace.at(self._state.given or default_dir()).config_file, self._flags)
        return self._state.config.tools.list

    async def wait_configured(self) -> None:
        """Wait until the start-up configuration has succeeded or failed."""
        await self._first_configured.wait()

    async def left(self, workspace: Workspace) -> None:
        """Wait until the server has switched to another directory than this one."""
        while isinstance(self._state, Unconfigured) or self._state.workspace.base == workspace.base:
            await self._moved.wait()

    async def begin(self, base_dir: str) -> None:
        """Try the start-up configuration; on failure the server stays unconfigured, with the reason."""
        self._state = Unconfigured(base_dir, "not configured yet")
        try:
            self._directories.begin(Workspace.at(base_dir))
            await self.configure(base_dir)
        except UiMcpError as error:
            _log.error("%s", error.message)
            self.fail(base_dir, error.message)
        finally:
            self._first_configured.set()

    def fail(self, base_dir: str, reason: str) -> None:
        """Stay unconfigured, and tell every caller the reason."""
        self._state = Unconfigured(base_dir, reason)
        self._first_configured.set()

    async def switch(self, base_dir: str) -> Configured | Running:
        """Switch to a directory that an agent named; nothing happens if it is being served.

        Raises:
            RefusedError: it is neither in the project nor one that the person listed, or others use this server.
            ConfigError: the directory cannot be used, or its configuration file is wrong.
        """
        workspace = Workspace.at(base_dir)
        self._directories.require(workspace)
        if isinstance(self._state, Running) and workspace.base == self._state.workspace.base:
            return self._state
        if isinstance(self._state, Configured) and workspace.base == self._state.workspace.base:
            base_dir = self._state.workspace.given
        elif self.clients() or joined_server(workspace):
            who = "Other clients use this server" if self.clients() else f"Another ui-mcp serves {workspace.base}"
            raise RefusedError(f"{who}: it stays with its directory\nConnect to one that runs with --dir {base_dir}.")
        return await self.configure(base_dir)

    async def configure(self, base_dir: str) -> Configured:
        """Switch to `base_dir`, which the person named; on failure nothing changes.

        Raises:
            ConfigError: the directory cannot be used, or its configuration file is wrong.
        """
        self._directories.begin(Workspace.at(base_dir))
        async with self._lock:
            configured = await anyio.to_thread.run_sync(prepare, base_dir, self._flags)
            configured = replace(configured, protected=self._directories.used(configured.workspace))
            if isinstance(self._state, Running):
                self._state.sessions.announce_reconfigured()
                await self._end(self._state)
            self._state = configured
            self._first_configured.set()
            self._moved.set()
            self._moved = anyio.Event()
            return configured

    async def start(self) -> Running:
        """Start serving the UI.

        Raises:
            NotConfiguredError: there is no usable base directory.
            AlreadyRunningError: this or another process serves it already.
            DiskError: the directory cannot be written.
        """
        async with self._lock:
            state = self.configured()
            if isinstance(state, Running):
                raise AlreadyRunningError(f"Server already running\n{state.url}", url=state.url)
            self._stop, self._stopped = anyio.Event(), anyio.Event()
            try:
                running: Running = await self._tasks.start(self._run, state)
            except OSError as error:
                raise DiskError(f"Cannot serve {state.workspace.given}", error) from error
            self._state = running
            _log.info("serving at %s; MCP on port %s", running.url, running.mcp_port)
            return running

    def accept_requests(self, running: Running) -> None:
        """Let requests find the server that is being started, before its ports take the first one."""
        # Connections may have waited since the ports were bound: their requests come with the first turn of the loop.
        self._state = running

    async def stop(self) -> None:
        """Stop serving the UI, if it is running."""
        async with self._lock:
            if isinstance(self._state, Running):
                await self._end(self._state)

    def status(self) -> JsonObject:
        """Return the state as the result of `ui_status`."""
        common = {"version": bundled_version()}
        match self._state:
            case Unconfigured(given, reason):
                return {"state": "unconfigured", **common, "base_dir": given, "error": reason}
            case Configured(workspace, _, _, pending):
                other = other_server(workspace)
                shown = {"other": {"pid": other.pid, "url": other.url}} if other else {}
                return {
                    "state": "configured",
                    **common,
                    "base_dir": workspace.given,
                    **_outdated_status(workspace),
                    **shown,
                    **pending_status(pending),
                }
            case Running(workspace, _, sessions, url, mcp_port, pending=pending) as running:
                return {
                    "state": "running",
                    **common,
                    "base_dir": workspace.given,
                    "url": url,
                    "sessions": sessions.pages,
                    "mcp_port": mcp_port,
                    **({"person_url": running.person_url} if running.person_url else {}),
                    **_outdated_status(workspace),
                    **pending_status(pending),
                }

    async def _end(self, running: Running) -> None:
        self._stop.set()
        await self._stopped.wait()
        _log.info("no longer serving at %s", running.url)
        self._state = Configured(running.workspace, running.config, pending=running.pending)

    async def _run(self, configured: Configured, *, task_status: TaskStatus[Running]) -> None:
        stop, stopped, serving = self._stop, self._stopped, False
        try:
            with exclusive(configured.workspace) as lock:
                async with self._serve(configured) as running:
                    lock.publish(running.url)
                    serving = True
                    task_status.started(running)
                    await stop.wait()
        except BaseException as error:
            self._state = configured
            # A failed start is reported to its caller; a later failure only ends the UI.
            if not serving or not isinstance(error, Exception):
                raise
            _log.error("the UI server ended: %r", error)
        finally:
            stopped.set()


def _outdated_status(workspace: Workspace) -> JsonObject:
    """Return the status fields for files that are older than the program, or of another product."""
    found, product = outdated(workspace), foreign_product(workspace)
    return {**({"outdated": found} if found else {}), **({"made_by": product} if product else {})}
