"""All sessions of a running server: made, found, swept, and told when files change."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from anyio import CancelScope, create_task_group, get_cancelled_exc_class, sleep, to_thread
from anyio.abc import TaskGroup

from ui_mcp.config import Config
from ui_mcp.errors import NotFoundError
from ui_mcp.file_watcher import Saved
from ui_mcp.ids import same_secret
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.lua_runtime.interface import Host as LuaHost
from ui_mcp.lua_runtime.interface import Op, Outputs, World
from ui_mcp.session.coalesced import Coalesced
from ui_mcp.session.launching import launch_of, lua_host, permissions_of
from ui_mcp.session.notices import system_event
from ui_mcp.session.surroundings import Surroundings
from ui_mcp.session.visitors import Visitors
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.sessions.hot_reload import Watch
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.viewdef_store import ViewdefFiles
from ui_mcp.workspace import Workspace

SWEEP_SECONDS = 3600.0
TIMING_VERBOSITY = 3

_log = logger("sessions")


@dataclass(frozen=True, slots=True)
class Server:
    """What the sessions know of the server they belong to."""

    status: Callable[[], JsonObject] = dict
    """What `mcp:status()` answers."""
    announcements: Announcements | None = None
    note: Callable[[str, str], None] = lambda _kind, _text: None
    """Takes remarks of Lua worlds that concern the server (`themes`, `subscribed`, `refused`)."""
    protected: tuple[str, ...] = ()
    """What app code neither reads nor writes, besides what it never does."""


class Sessions:
    """Enter it as a context: session 1 is there in the block, and every Lua world ends with it."""

    def __init__(
        self, workspace: Workspace, config: Config, server: Server = Server(), host: LuaHost | None = None
    ) -> None:
        self._workspace = workspace
        self._config = config
        self._server = server
        self._host = host or lua_host(config)
        self._sessions: dict[str, Session] = {}
        self.visitors = Visitors()
        self._last = 0
        self._viewdefs = ViewdefFiles(workspace, permissions_of(workspace, config, server.protected))
        self._told: str | None = None
        """What worlds are told of the server, until a page comes or goes."""
        self._around: Surroundings
        self._tasks: TaskGroup

    async def __aenter__(self) -> Self:
        self._tasks = await create_task_group().__aenter__()
        try:
            await self._begin(self._tasks)
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        await self.stop()
        self._tasks.cancel_scope.cancel()
        if isinstance(error, get_cancelled_exc_class()):
            return await self._tasks.__aexit__(kind, error, trace)
        # An error of the block is passed on as it is, not as a group with one member.
        await self._tasks.__aexit__(None, None, None)
        return None

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def pages(self) -> int:
        """Number of connected browser pages."""
        return sum(len(session.pages) for session in self._sessions.values())

    async def create(self) -> Session:
        """Open another session.

        Raises:
            LuaError: the project's start-up code failed.
        """
        self._last = self._last + 1 if self._sessions else 1
        session = Session(str(self._last), self._around)
        self._sessions[session.vended] = session
        try:
            await session.start()
        except BaseException:
            self._sessions.pop(session.vended, None)
            raise
        return session

    def get(self, given: str) -> Session:
        """Find a session by vended or secret id.

        Raises:
            NotFoundError: there is none.
        """
        found = self._sessions.get(given)
        for session in self._sessions.values() if found is None else ():
            found = session if same_secret(given, session.secret) else found
        if found is None:
            raise NotFoundError(f"session {given} not found", session=given)
        return found

    def has(self, given: str) -> bool:
        """Say whether there is a session with this vended or secret id."""
        try:
            self.get(given)
        except NotFoundError:
            return False
        return True

    async def destroy(self, session: Session) -> None:
        """End a session: its pages, waiters, timers and Lua world."""
        self._sessions.pop(session.vended, None)
        await session.end()

    async def upload_viewdef(self, key: str, content: str) -> None:
        """Register and save a viewdef, and show it in every page that uses it.

        Raises:
            ViewdefError: it cannot be compiled; nothing has changed.
        """
        await self._tell_all(Op.VIEWDEFS, await to_thread.run_sync(self._viewdefs.upload, key, content))

    async def sweep(self) -> None:
        """End sessions that have been idle for too long; session 1 stays."""
        limit = self._config.session.timeout
        for session in list(self._sessions.values()):
            if limit and session.vended != "1" and session.idle > limit:
                _log.info("session %s ended after %.0f s without use", session.vended, session.idle)
                await self.destroy(session)

    async def stop(self) -> None:
        """End every session; blocked waiters learn that the server goes. Safe to call twice."""
        for session in list(self._sessions.values()):
            session.events.push_system(system_event("server_reconfigured"))
        with CancelScope(shield=True):
            async with create_task_group() as ending:
                for session in list(self._sessions.values()):
                    ending.start_soon(self.destroy, session)

    async def _begin(self, tasks: TaskGroup) -> None:
        announcements = self._server.announcements or Announcements()
        self._around = Surroundings(
            launch=self._launch,
            status=self._status,
            announce=Coalesced(tasks, announcements.resource_updated),
            tasks=tasks,
            pages_changed=self._pages_changed,
            timing=self._config.logging.verbosity >= TIMING_VERBOSITY,
            note=self._server.note,
        )
        watch = Watch(self._workspace, self._saved)
        self._viewdefs.load()
        await self.create()
        if self._config.lua.hotload:
            await tasks.start(watch.run)
        tasks.start_soon(self._sweep_now_and_then)

    def _status(self) -> str:
        if self._told is None:
            status = self._server.status()
            if status.get("state") != "running":
                return dumps(status)
            self._told = dumps(status)
        return self._told

    def _pages_changed(self) -> None:
        self._told = None

    async def _launch(self, secret: str, outputs: Outputs) -> World:
        world = await self._host.launch(
            launch_of(self._workspace, self._config, secret, self._server.protected), outputs
        )
        await world.enter(Op.VIEWDEFS, self._viewdefs.bundle())
        return world

    async def _saved(self, files: list[Saved]) -> None:
        viewdefs = [file for file in files if file.path.suffix == ".html"]
        for file in files:
            if file.path.suffix == ".lua":
                await self._tell_all(Op.RELOAD, str(file.path))
        reloaded = await to_thread.run_sync(self._viewdefs.reload, viewdefs)
        if reloaded.bundle is not None:
            await self._tell_all(Op.VIEWDEFS, reloaded.bundle)
        for session in self._sessions.values():
            for good in reloaded.good:
                session.loading.mended(good)
            for problem in reloaded.problems:
                session.loading.failed(problem)

    async def _tell_all(self, op: Op, text: str) -> None:
        async with create_task_group() as telling:
            for session in list(self._sessions.values()):
                telling.start_soon(session.attempt, op, text)

    async def _sweep_now_and_then(self) -> None:
        while True:
            await sleep(SWEEP_SECONDS)
            await self.sweep()
