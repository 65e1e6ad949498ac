"""A session: one Lua worker with its pages, events and timers."""

from asyncio import Lock
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from time import monotonic

from anyio import CancelScope

from ui_mcp.errors import SessionGoneError, UiMcpError
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.log import OPERATIONS, VALUES, logger
from ui_mcp.lua_runtime.interface import EntryContext, Reply, Scalar, Worker, raise_for_fault
from ui_mcp.ui.sessions.context import SessionContext
from ui_mcp.ui.sessions.events import AgentProgress, Change, EventQueue, ResourceChanges, with_events
from ui_mcp.ui.sessions.history import History
from ui_mcp.ui.sessions.longpoll import LongPolls
from ui_mcp.ui.sessions.page_history import PageHistory
from ui_mcp.ui.sessions.pages import (
    HISTORY,
    Connection,
    Notice,
    Pages,
    UnseenNotices,
    app_notice,
    notice_frame,
    system_event,
)
from ui_mcp.ui.sessions.problems import Blank, Problems
from ui_mcp.ui.sessions.record import SessionRecord
from ui_mcp.ui.sessions.saving import SavedSession, StateSaver
from ui_mcp.ui.sessions.supervisor import LoadErrors, Timers, WorkerOutputs, WorkerSupervisor
from ui_mcp.ui.state.acts import START, Act
from ui_mcp.ui.state.database import StateDatabase
from ui_mcp.wire import NOTICE_ENDED, NOTICE_REFUSED, NOTICE_RESTARTED, RESTARTED, SESSION_ENDED, Op, OutputKind

TIMING_SECONDS = 10.0
"""How long compute times are measured after the variables were read."""

_log = logger("session")


class Session:
    """Restarts its Lua worker after a crash, keeping ids and queued events."""

    def __init__(self, vended: str, context: SessionContext, record: SessionRecord | None = None) -> None:
        self.vended = vended
        self._record = record or SessionRecord()
        self.secret = self._record.kept.secret or token_hex(16)
        self.events = EventQueue(self._queue_changed)
        self.pages = Pages(self._accept, context.pages_changed)
        self.problems = Problems(vended, self.events, self.pages, context.will_load)
        self.loading = LoadErrors(vended, self.events, self.pages, self.problems)
        self.progress = AgentProgress()
        self._unseen = UnseenNotices(self.pages)
        self.touched = monotonic()
        self._context = context
        self._changes = ResourceChanges(vended, context.announce)
        self._lock = Lock()
        self._timers = Timers(context.tasks, self._fire)
        self.polls = LongPolls(self.attach, context.tasks)
        self._supervisor = WorkerSupervisor(self._launch, self._outputs)
        self._displayed: str | None = None
        self._saver = self._make_saver(context.state) if context.state is not None else None
        self.history = History(self._saver, self._lock, self._patch)
        self._page_history = PageHistory(vended, self.history, lambda: self._displayed, context.look, context.fork)
        self._refreshing = False
        self._left = False
        self._variables_read = -TIMING_SECONDS

    @property
    def idle(self) -> float:
        """Seconds since the last activity; 0 while a page is connected or a caller waits."""
        return 0.0 if self.pages or self.events.polling else monotonic() - self.touched

    @property
    def over(self) -> str | None:
        """Why the session has ended for good, or None."""
        return None if self._left else self._supervisor.end_reason

    async def start(self) -> None:
        """Start the Lua worker.

        Raises:
            LuaError: the project's start-up code failed.
        """
        await self._supervisor.start()
        _log.info("session %s started", self.vended)
        self.events.restore(self._record.kept.events)
        self._record.open(self.secret, self.events.queued)
        self.events.record = self._record.note
        if self._record.resumed:
            self._displayed = self._record.kept.displayed
            async with self._lock:
                self._unseen.notify(*await self._continue(self._record.reason))
        if self._saver is not None:
            self._saver.journal.begin(Act(START, "Start"))
            self._context.tasks.start_soon(self._saver.journal.run)

    def _make_saver(self, database: StateDatabase) -> StateSaver:
        parts = SavedSession(
            self.vended, self.secret, self._lock, self._supervisor, self.pages, self.events, self._unseen,
            lambda: self._displayed,
        )  # fmt: skip
        saver = StateSaver(parts, database)
        saver.journal.facts, self._record.on_fact = self._record.facts, saver.journal.wake
        return saver

    async def _continue(self, reason: str) -> Notice:
        """Bring the state of the last worker into this one, or else show its app; return the notice for the person."""
        restored = await self._saver.restore(self._restore) if self._saver is not None else None
        facts = {"session": self.vended, "restarted": True, "reason": reason, "restored": restored is not None}
        if restored is not None and restored["lost"]:
            facts["lost"] = restored["lost"]
        self.events.push_system(system_event("session_restarted", facts))
        if restored is not None:
            return "info", f"The app was interrupted and continues where it was: {reason}", NOTICE_RESTARTED
        await self._show_again()
        return "warning", f"The app stopped and was started again: {reason}", NOTICE_RESTARTED

    async def _restore(self, text: str) -> Reply:
        return await self._supervisor.worker().call(Op.RESTORE, text, facts=self._entry_context())

    async def bring(self, records: str, *, frozen: bool = False) -> None:
        """Give a new session the state that records describe; `frozen`: it is read-only.

        Raises:
            UiMcpError: it could not be given.
        """
        raise_for_fault(await self.call(Op.RESTORE, records, frozen))

    async def _patch(self, text: str) -> Reply:
        return await self._supervisor.worker().call(Op.PATCH, text, facts=self._entry_context())

    @property
    def unsaved(self) -> int:
        """Operations whose effects are not saved yet."""
        return self._saver.unsaved if self._saver is not None else 0

    @property
    def problem(self) -> str:
        """Why they are not saved, if that has failed."""
        return self._saver.journal.problem if self._saver is not None else ""

    async def call(self, op: Op, *args: Scalar, author: str = "") -> Reply:
        """Run one operation in Lua, after all earlier ones, and send the changes to the pages.

        `author` is who did it for the history, where the operation does not tell.

        Raises:
            SessionGoneError: the session has ended, or the worker exited during this operation.
        """
        self.touched = monotonic()
        _log.log(OPERATIONS, "session %s: %s", self.vended, op)
        _log.log(VALUES, "session %s: %s %s", self.vended, op, args)
        async with self._lock:
            if self._supervisor.crash_reason is not None and self._supervisor.end_reason is None:
                # A cancelled caller must not leave the session without a worker.
                with CancelScope(shield=True):
                    await self._restart_worker(self._supervisor.crash_reason)
            try:
                if self._saver is not None:
                    await self._saver.before(op, author)
                return await self._supervisor.worker().call(op, *args, facts=self._entry_context())
            except SessionGoneError as error:
                self._on_worker_exit(error.message)
                raise
            finally:
                if self._supervisor.end_reason is None:  # even if the caller was cancelled: Lua continues
                    self._changes.after(op)
                    if self._saver is not None:
                        self._saver.after(op, args, author)

    async def call_and_log(self, op: Op, *args: Scalar, author: str = "") -> Reply | None:
        """Run an operation without a caller to report to; log its errors and return None."""
        try:
            reply = await self.call(op, *args, author=author)
        except UiMcpError as error:
            _log.info("session %s: %s failed: %s", self.vended, op, error.message)
            return None
        except Exception:  # noqa: BLE001 — a bug here must not end the server's task group
            _log.exception("session %s: %s", self.vended, op)
            return None
        if reply.fault is not None:
            _log.info("session %s: %s failed: %s", self.vended, op, reply.fault.message)
        return reply

    async def run_lua(self, code: str) -> str:
        """Run a chunk and return its first value as JSON text.

        Raises:
            LuaError: it failed; the details carry the traceback.
        """
        return raise_for_fault(await self.call(Op.RUN, code)).result

    async def console(self, code: str) -> JsonObject:
        """Run an expression or a chunk and return its values, what it printed, and the error if it failed."""
        found: JsonObject = loads(raise_for_fault(await self.call(Op.CONSOLE, code)).result)
        return {"values": list(found["values"]), "printed": list(found["printed"]), "error": found.get("error")}

    @property
    def displayed(self) -> str | None:
        """The app that was displayed last, or None."""
        return self._displayed

    async def display(self, name: str) -> Blank | None:
        """Load an app if needed and show it; return why it shows nothing, or None.

        Raises:
            UiMcpError: there is no such app, or its code failed.
        """
        found = loads(raise_for_fault(await self.call(Op.DISPLAY, name)).result)
        return Blank(found["note"], found.get("viewdef")) if found else None

    async def state_json(self) -> str:
        """Return the app's state as JSON text, with the queued events under `_events`."""
        return with_events(raise_for_fault(await self.call(Op.STATE)).result, self.events.texts())

    async def variables_json(self) -> str:
        """Return all variables as JSON text, parents before children; compute times are measured from now on."""
        self._variables_read = monotonic()
        return raise_for_fault(await self.call(Op.VARIABLES)).result

    def refresh(self) -> None:
        """Detect changes soon and send them to the pages; coalesces repeated requests."""
        if self.pages and not self._refreshing:
            self._refreshing = True
            self._context.tasks.start_soon(self._refresh)

    @asynccontextmanager
    async def attach(self, *, driven: bool = False, page: str = "") -> AsyncIterator[Connection]:
        """Connect a page while the block runs; a `driven` page is operated by a program, `page` is its own id.

        Raises:
            SessionGoneError: the session has ended.
        """
        connection = self.pages.add(driven=driven, page=page)
        _log.info("session %s: page %s connected%s", self.vended, connection.number, " by a program" if driven else "")
        try:
            raise_for_fault(await self.call(Op.OPEN, connection.number))
            self.loading.repeat_for(connection)
            self.problems.show_in(connection)
            self._unseen.show(connection)
            yield connection
        finally:
            _log.info("session %s: page %s disconnected", self.vended, connection.number)
            if self.pages.remove(connection):
                self._context.tasks.start_soon(self.call_and_log, Op.CLOSE, connection.number)

    async def wait_rendered(self, page: Connection) -> None:
        """Return when a page shows the result of everything that it has sent.

        Raises:
            SessionGoneError: the page disconnected, or the session has ended.
        """
        await page.queries.wait_rendered()
        async with self._lock:
            await self._supervisor.worker().call(Op.REFRESH, facts=self._entry_context())
        await page.queries.wait_rendered()

    async def end(self, reason: str = "it ended") -> None:
        """Close the pages, release the waiters and end the worker."""
        if self._supervisor.end_reason is None:
            self._supervisor.end_reason = reason
            self.pages.notify("info", "This session has ended.", NOTICE_ENDED)
        self.pages.close(SESSION_ENDED, "session ended")
        if self._saver is not None:
            await self._saver.journal.close()
        await self._stop()
        _log.info("session %s ended", self.vended)

    async def leave(self) -> None:
        """Let another server continue the session, where its pages find it; end the worker."""
        if self._saver is not None:
            with suppress(UiMcpError):  # what is not saved by now the other server does not know
                await self._saver.save()
            self._saver.journal.leave()
        self._left, self._supervisor.end_reason = True, "another server continues it"
        self.pages.close(RESTARTED, "session moved")
        await self._stop()
        _log.info("session %s left to other servers", self.vended)

    async def _stop(self) -> None:
        self.events.close()
        self._record.close()
        self.progress.close()
        await self._supervisor.close()
        async with self._lock:  # a worker that was being started meanwhile
            await self._supervisor.close()
        self._timers.cancel_all()

    async def _launch(self, outputs: WorkerOutputs) -> Worker:
        return await self._context.launch(self.secret, outputs)

    def _outputs(self) -> WorkerOutputs:
        return WorkerOutputs(
            self.pages, self.events, self._timers, self._changes.variables, self._noted, self._on_worker_exit
        )

    async def _accept(self, connection: Connection, frame: str) -> None:
        _log.debug("session %s: page %s sent %s characters", self.vended, connection.number, len(frame))
        if frame.startswith(HISTORY):
            await self._page_history.answer(connection, frame)
            return
        reply = await self.call_and_log(Op.FRAME, connection.number, frame, author=connection.actor)
        if reply is not None and reply.fault is not None:
            connection.outbox.put(notice_frame("error", reply.fault.message, reply.fault.code))

    async def _fire(self, handle: int) -> None:
        await self.call_and_log(Op.TIMER, handle)

    async def _refresh(self) -> None:
        self._refreshing = False
        await self.call_and_log(Op.REFRESH)

    def _entry_context(self) -> EntryContext:
        queue = self.events
        return EntryContext(
            polling=queue.polling,
            waited=queue.wait_time,
            pending=len(queue),
            status=self._context.status(),
            timing=self._context.timing or monotonic() - self._variables_read < TIMING_SECONDS,
        )

    def _noted(self, kind: str, text: str) -> None:
        if kind == OutputKind.DISPLAYED:
            self._displayed = text
            self._record.note("displayed", text)
        elif kind == OutputKind.LOAD_ERROR:
            self.loading.failed(loads(text))
        elif kind == OutputKind.LOADED:
            self.loading.resolved(text)
        elif kind in {OutputKind.PROBLEM, OutputKind.RESOLVED}:
            self.problems.note(kind, text)
        elif kind == OutputKind.VIEWED:
            self._context.tasks.start_soon(self.problems.check_names, text, self._context.unknown_names)
        elif kind == OutputKind.PROGRESS:
            self.progress.update(loads(text))
        elif kind == OutputKind.NOTICE:
            self.pages.notify(*app_notice(text))
        else:
            if kind == OutputKind.REFUSED:
                self._report_refusal(loads(text))
            self._context.note(kind, text)

    def _report_refusal(self, refusal: JsonObject) -> None:
        self.events.push_system(system_event("permission_denied", {"session": self.vended, **refusal}))
        self._unseen.notify("warning", str(refusal["message"]), NOTICE_REFUSED)

    def _on_worker_exit(self, reason: str) -> None:
        if self._supervisor.crash_reason is None and self._supervisor.end_reason is None:
            self._supervisor.crash_reason = reason
            self._context.tasks.start_soon(self.call_and_log, Op.REFRESH)

    async def _restart_worker(self, reason: str) -> None:
        _log.warning("session %s: Lua worker exited: %s", self.vended, reason)
        self._timers.cancel_all()
        self.problems.clear()
        await self._supervisor.replace()
        over = self._supervisor.end_reason
        if over is not None:
            facts = {"session": self.vended, "restarted": False, "reason": over}
            self.events.push_system(system_event("session_restarted", facts))
            self.pages.notify("error", f"The app stopped and stays down: {over}", NOTICE_ENDED)
            self.pages.close(SESSION_ENDED, "session ended")
            return
        # Those that connect from now on are pages of the new worker.
        released = self.pages.release()
        notice: Notice = "warning", f"The app stopped: {reason}", NOTICE_RESTARTED
        try:
            notice = await self._continue(reason)
        finally:  # they reconnect also if this worker has ended meanwhile
            for connection in released:
                connection.outbox.put(notice_frame(*notice))
                connection.outbox.close(RESTARTED, "session restarted")

    async def _show_again(self) -> None:
        if self._displayed is None:
            return
        reply = await self._supervisor.worker().call(Op.DISPLAY, self._displayed, facts=self._entry_context())
        if reply.fault is not None:
            self.loading.failed({"name": self._displayed, "message": reply.fault.message})

    def _queue_changed(self, change: Change) -> None:
        self.touched = monotonic()
        self._changes.events()
        if change != "pushed":
            self.refresh()
