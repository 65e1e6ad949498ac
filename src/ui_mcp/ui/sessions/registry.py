"""All sessions of a server, the people's cookies that admit to them, and the settings of their workers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from hmac import compare_digest
from pathlib import Path
from types import TracebackType
from typing import Self

from anyio import CancelScope, Lock, create_task_group, get_cancelled_exc_class, sleep, to_thread
from anyio.abc import TaskGroup

from ui_mcp.config import Config
from ui_mcp.errors import NotFoundError, UiMcpError
from ui_mcp.file_watcher import SavedFile
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.lua_runtime.interface import OutputSink, Worker, WorkerHost
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.sessions.context import SessionContext, ThrottledAnnouncer
from ui_mcp.ui.sessions.hot_reload import HotReloader, call_all, log_reload
from ui_mcp.ui.sessions.pages import Connection, system_event
from ui_mcp.ui.sessions.past import PastSessions, as_text
from ui_mcp.ui.sessions.record import PersonCookies, SessionRecord, SessionRecords, digest_of
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.sessions.shared import SharedSessions
from ui_mcp.ui.sessions.worker_settings import permissions_of, state_database, worker_config, worker_host
from ui_mcp.ui.state.group import journal_name
from ui_mcp.ui.viewdef_store import ViewdefFiles
from ui_mcp.wire import Op
from ui_mcp.workspace import Workspace

SWEEP_SECONDS = 3600.0
TIMING_VERBOSITY = 3
_log = logger("sessions")


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What the sessions know about their server."""

    status: Callable[[], JsonObject] = dict
    """Returns the value of `mcp:status()`."""
    announcements: Announcements | None = None
    note: Callable[[str, str], None] = lambda _kind, _text: None
    """Receives the notes of workers that concern the server (`themes`, `subscribed`, `refused`)."""
    protected: tuple[str, ...] = ()
    """Additional paths that app code may never read or write."""
    records: SessionRecords = SessionRecords()
    """Keep the sessions for the next server, should this one be killed."""


class SessionRegistry:
    """Async context manager: session 1 exists inside the block, and every worker ends with it."""

    def __init__(
        self, workspace: Workspace, config: Config, server: ServerInfo = ServerInfo(), host: WorkerHost | None = None
    ) -> None:
        self._workspace = workspace
        self._config = config
        self._server = server
        self._host = host or worker_host(config)
        self._sessions: dict[str, Session] = {}
        self.stopped = False
        """Whether the server was stopped or configured anew."""
        self.visitors = PersonCookies()
        self.past = PastSessions(self.get, lambda number: Session(number, replace(self._context, state=None)))
        self._last = 0
        self.viewdefs = ViewdefFiles(workspace, permissions_of(workspace, config, server.protected))
        self._database = state_database(workspace, config)
        group = self._database.group if self._database is not None else None
        self._shared = SharedSessions(group) if group is not None else None
        self._taking_over = Lock()
        if group is not None:
            group.on_lost, self.visitors.cookie = self._lost, f"ui-visitor-{group.name}"
        self._cached_status: str | None = None
        """The server's status for workers, until a page connects or disconnects."""
        self._context: SessionContext
        self._reloader: HotReloader
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
        # Raise an error of the block as it is, not as an exception group with one member.
        await self._tasks.__aexit__(None, None, None)
        return None

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def pages(self) -> int:
        """Number of connected browser pages."""
        return sum(len(session.pages) for session in self._sessions.values())

    def with_page(self, author: str) -> tuple[Session, Connection] | None:
        """Return the page in which `author` acts, with its session; None if it is not connected."""
        found = ((session, session.pages.by_author(author)) for session in self._sessions.values())
        return next(((session, page) for session, page in found if page is not None), None)

    def unsaved(self) -> JsonObject:
        """Return the sessions whose last operations are not saved: their number, and why."""
        return {
            session.vended: {"operations": session.unsaved, **({"problem": why} if (why := session.problem) else {})}
            for session in self._sessions.values()
            if session.unsaved
        }

    async def create(self) -> Session:
        """Start another session.

        Raises:
            LuaError: the project's start-up code failed.
        """
        # Numbers restart when no session is left, because clients use session 1 by default.
        return await self._create(self._last + 1 if self._sessions else 1)

    async def _create(self, number: int) -> Session:
        self._last = number
        record = self._server.records.of(number)
        if self._shared is not None:
            await (self._shared.begin_first(record) if number == 1 else self._shared.begin(record))
        return await self._start(number, record)

    async def _start(self, number: int, record: SessionRecord) -> Session:
        session = Session(str(number), self._context, record)
        self._sessions[session.vended] = session
        self.visitors.remember(session.secret, record)
        try:
            await session.start()
        except BaseException:
            self._sessions.pop(session.vended, None)
            if self._shared is not None:
                with CancelScope(shield=True):
                    await self._shared.group.release(session.secret)
            raise
        return session

    async def take_over(self, secret: str, visitor: str) -> None:
        """Continue a session of another server of the group, if there is one that this visitor may open.

        Raises:
            SessionElsewhereError: another server has it.
            UiMcpError: it cannot be continued.
        """
        async with self._taking_over:  # several pages of a session come at once
            if self._shared is None or self.has(secret):
                return
            kept = await self._shared.take(secret, visitor)
            if kept is not None:
                self._last += 1
                await self._start(self._last, self._shared.continued(self._server.records.of(self._last), kept))

    async def latest_elsewhere(self, visitor: str) -> str | None:
        """Return the secret id of the session that a visitor of the group opened, on whichever server."""
        return await self._shared.group.latest(digest_of(visitor).hex()) if self._shared is not None else None

    def _lost(self, name: str) -> None:
        """Give up a session that another server has taken over."""
        for session in list(self._sessions.values()):
            if journal_name(session.secret) == name:
                self._tasks.start_soon(self._leave, session)

    async def _leave(self, session: Session) -> None:
        """End a session here and keep what is saved of it, for any server of the group."""
        self._remove(session)
        await self.past.end(session.vended)
        await session.leave()
        if self._shared is not None:
            await self._shared.group.release(session.secret)

    def _remove(self, session: Session) -> None:
        self._sessions.pop(session.vended, None)
        self.visitors.forget(session.secret)

    async def _continue_others(self) -> None:
        """Continue the further sessions of a killed server; one that cannot start any more is left out."""
        for number in self._server.records.left():
            try:
                await self._create(number)
            except UiMcpError as error:
                _log.warning("session %s is not continued: %s", number, error.message)
        self._server.records.continued()

    async def fork(self, session: Session, step: int | None = None) -> Session:
        """Start a session with the state that another had after a step, or has now; its visitors may open it.

        Raises:
            NotFoundError: the history of that time is no longer kept.
        """
        state = await session.history.state_at(step)
        made = await self.create()
        await made.bring(await to_thread.run_sync(as_text, state))
        self.visitors.share(made.secret, session.secret)
        return made

    async def _fork(self, vended: str, step: int) -> str:
        return (await self.fork(self.get(vended), step)).secret

    async def _look(self, vended: str, step: int) -> str:
        shown = await self.past.look(vended, step)
        self.visitors.share(shown.secret, self.get(vended).secret)
        return shown.secret

    async def publish(self, topic: str, text: str) -> int:
        """Hand JSON text to the apps that subscribed to a topic; return in how many sessions there are any."""
        replies = [await session.call_and_log(Op.PUBLISHED, topic, text) for session in list(self._sessions.values())]
        # A function that failed has listened too.
        return sum(reply is not None and (reply.result == "true" or reply.fault is not None) for reply in replies)

    def get(self, given: str) -> Session:
        """Return a session by vended or secret id.

        Raises:
            NotFoundError: there is none.
        """
        found = self._sessions.get(given)
        for session in (*self._sessions.values(), *self.past.sessions()) if found is None else ():
            # No early exit, so that timing does not reveal which secret matches.
            found = session if compare_digest(given.encode(), session.secret.encode()) else found
        if found is None:
            raise NotFoundError(f"session {given} not found", session=given)
        return found

    def has(self, given: str) -> bool:
        """Return whether there is a session with this vended or secret id."""
        try:
            self.get(given)
        except NotFoundError:
            return False
        return True

    async def destroy(self, session: Session) -> None:
        """End a session: its pages, waiters, timers and worker."""
        self._remove(session)
        await self.past.end(session.vended)
        await session.end()

    async def display(self, session: Session, name: str) -> str | None:
        """Show an app, as `Session.display` does; return why it shows nothing, or None."""
        blank = await session.display(name)
        if blank is not None and blank.viewdef is not None:
            # Perhaps it was written a moment ago, or nothing watches for files.
            found = await to_thread.run_sync(self.viewdefs.find, blank.viewdef)
            if found is not None:
                await session.call_and_log(Op.VIEWDEFS, found)
                blank = await session.display(name)
        return blank.note if blank else None

    async def upload_viewdef(self, key: str, content: str) -> str:
        """Register and save a viewdef, and show it in every page that uses it; return a note on saving it.

        Raises:
            ViewdefError: it cannot be compiled; nothing has changed.
        """
        uploaded = await to_thread.run_sync(self.viewdefs.upload, key, content)
        await self.notify_all_sessions(Op.VIEWDEFS, uploaded.bundle)
        return uploaded.note

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Callable[[Iterable[Path]], Awaitable[list[JsonObject]]]]:
        """Load nothing by itself while the block writes files.

        Yields the function that loads written or deleted files and returns what failed, `{file, message}` each; pages
        and agent are not notified.
        """
        async with self._reloader.paused() as load_written:

            async def load(paths: Iterable[Path]) -> list[JsonObject]:
                with ExitStack() as held:
                    failed = [held.enter_context(session.loading.held()) for session in self._sessions.values()]
                    await load_written(paths)
                return list({dumps(problem): problem for problems in failed for problem in problems}.values())

            yield load

    def problems_of(self, app: str) -> list[JsonObject]:
        """Return what is wrong in an app, in any session."""
        return [problem for session in self._sessions.values() for problem in session.problems.of_app(app)]

    def report_failed(self, problems: Iterable[JsonObject]) -> None:
        """Tell pages and agent about files that failed to load."""
        for session in self._sessions.values():
            for problem in problems:
                session.loading.failed(problem)

    async def sweep(self) -> None:
        """End sessions that have been idle for too long, except session 1."""
        limit = self._config.session.timeout
        for session in list(self._sessions.values()):
            if limit and session.vended != "1" and session.idle > limit:
                _log.info("session %s ended after %.0f s without use", session.vended, session.idle)
                await self.destroy(session)
        if limit and self._shared is not None:
            await self._shared.group.sweep(limit)

    def announce_reconfigured(self) -> None:
        """Tell waiting agents that the server switches to another directory, where they find it again."""
        for session in self._sessions.values():
            session.events.push_system(system_event("server_reconfigured"))

    async def stop(self) -> None:
        """End every session; safe to call twice."""
        self.stopped = True
        with CancelScope(shield=True):
            async with create_task_group() as ending:
                for session in list(self._sessions.values()):
                    # A session without a visitor could not be found again.
                    others = self._shared is not None and self.visitors.has_any(session.secret)
                    ending.start_soon(self._leave if others else self.destroy, session)
            if self._database is not None:
                await self._database.close()

    async def _begin(self, tasks: TaskGroup) -> None:
        announcements = self._server.announcements or Announcements()
        self._context = SessionContext(
            launch=self._launch,
            status=self._status,
            announce=ThrottledAnnouncer(tasks, announcements.resource_updated),
            tasks=tasks,
            pages_changed=self._pages_changed,
            timing=self._config.logging.verbosity >= TIMING_VERBOSITY,
            note=self._server.note,
            state=self._database,
            look=self._look,
            fork=self._fork,
            unknown_names=self.viewdefs.unknown_names,
            will_load=lambda file: self._config.lua.hotload and (self._workspace.base / file).is_file(),
        )
        self._reloader = HotReloader(self._workspace, self._saved)
        self.viewdefs.load()
        await self.create()
        await self._continue_others()
        if self._config.lua.hotload:
            await tasks.start(self._reloader.run)
        tasks.start_soon(self._sweep_periodically)
        if self._shared is not None:
            tasks.start_soon(self._shared.group.keep)

    def _status(self) -> str:
        if self._cached_status is None:
            status = self._server.status()
            if status.get("state") != "running":
                return dumps(status)
            self._cached_status = dumps(status)
        return self._cached_status

    def _pages_changed(self) -> None:
        self._cached_status = None

    async def _launch(self, secret: str, outputs: OutputSink) -> Worker:
        config = worker_config(self._workspace, self._config, secret, self._server.protected)
        worker = await self._host.launch(replace(config, status=self._status()), outputs)
        await worker.call(Op.VIEWDEFS, self.viewdefs.bundle())
        return worker

    async def _saved(self, files: list[SavedFile]) -> None:
        for session in self._sessions.values():
            session.problems.changed_files()
        viewdefs = [file for file in files if file.path.suffix == ".html"]
        # Code of a deleted file stays loaded.
        code = [file.path for file in files if file.path.suffix == ".lua" and file.path.exists()]
        broken = {path for path in code if not await self.notify_all_sessions(Op.RELOAD, str(path))}
        reloaded = await to_thread.run_sync(self.viewdefs.reload, viewdefs)
        log_reload(self._workspace, [file.path for file in files if file.path not in broken], reloaded)
        if reloaded.bundle is not None:
            await self.notify_all_sessions(Op.VIEWDEFS, reloaded.bundle)
        for session in self._sessions.values():
            for good in reloaded.good:
                session.loading.resolved(good)
            for problem in reloaded.problems:
                session.loading.failed(problem)

    async def notify_all_sessions(self, op: Op, text: str) -> bool:
        """Run an operation in every session; return whether none of them reported an error."""
        return await call_all(list(self._sessions.values()), op, text)

    async def _sweep_periodically(self) -> None:
        while True:
            await sleep(SWEEP_SECONDS)
            await self.sweep()
