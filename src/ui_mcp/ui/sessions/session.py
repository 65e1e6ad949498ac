"""Session: one worker with its pages, events, timers."""

from asyncio import Future, Lock
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic

from anyio import CancelScope
from anyio.abc import TaskGroup

from ui_mcp.errors import (
    LuaError,
    LuaMemoryError,
    LuaSyntaxError,
    LuaTimeoutError,
    NotFoundError,
    SessionGoneError,
    UiMcpError,
    WireError,
)
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.log import logger
from ui_mcp.lua_runtime.interface import EntryContext, LuaFault, Op, OutputSink, Reply, Scalar, Worker
from ui_mcp.ui.sessions.events import MAX_BYTES, MAX_EVENTS, Change, EventQueue, with_events
from ui_mcp.ui.sessions.longpoll import LongPolls
from ui_mcp.ui.sessions.pages import Connection, Pages, notice_frame, system_event
from ui_mcp.ui.sessions.supervisor import LoadErrors, Timers, WorkerOutputs, WorkerSupervisor
from ui_mcp.wire import NOTICE_ENDED, NOTICE_RESTARTED, RESTARTED, SESSION_ENDED

_KINDS: dict[str, type[UiMcpError]] = {
    kind.code: kind for kind in (LuaError, LuaSyntaxError, LuaTimeoutError, LuaMemoryError, NotFoundError, WireError)
}


def raise_for_fault(reply: Reply) -> Reply:
    """Return `reply` if the entry succeeded.

    Raises:
        UiMcpError: it did not; Lua's traceback is in the details.
    """
    if reply.fault is None:
        return reply
    kind = _KINDS.get(reply.fault.code, LuaError)
    raise kind(reply.fault.message, traceback=reply.fault.traceback)


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The same for all sessions of a server."""

    launch: Callable[[str, OutputSink], Awaitable[Worker]]
    """Start a Lua world for the session with this secret id, with all viewdefs."""
    status: Callable[[], str]
    """JSON text of what `mcp:status()` returns."""
    announce: Callable[[str], None]
    """Say that the resource at a URI changed; bursts are thinned out."""
    tasks: TaskGroup
    """Owns what the sessions run in the background."""
    pages_changed: Callable[[], None] = lambda: None
    """Say that a page came or went."""
    timing: bool = False
    """Whether compute times are always measured."""
    note: Callable[[str, str], None] = lambda _kind, _text: None
    """Take a world's remark that concerns the server: `themes`, `subscribed`."""


_READING = frozenset({Op.STATE, Op.VARIABLES, Op.REFRESH, Op.OPEN, Op.CLOSE})
"""What cannot change an app's state."""


class ResourceChanges:
    """The resources that show one session; those of the first also stand under the bare names."""

    def __init__(self, vended: str, announce: Callable[[str], None]) -> None:
        self._vended = vended
        self._announce = announce

    def after(self, op: Op) -> None:
        """Announce what an operation may have changed."""
        if op in {Op.OPEN, Op.CLOSE}:
            self.variables()
        if op not in _READING:
            self.state()

    def variables(self) -> None:
        """Announce the variables."""
        self._of_first("variables")

    def events(self) -> None:
        """Announce the queue of events, which the state shows too."""
        self._of_first("events")
        self.state()

    def state(self) -> None:
        """Announce the app's state."""
        self._of_first("state")
        self._announce(f"ui://state/{self._vended}")

    def _of_first(self, name: str) -> None:
        if self._vended == "1":
            self._announce(f"ui://{name}")


WATCHED_SECONDS = 10.0
"""How long a look at the variables keeps compute times being measured."""

_log = logger("session")


class Session:
    """A Lua world for life: if it dies it gets another one, with the same ids and events."""

    def __init__(self, vended: str, around: SessionContext) -> None:
        self.vended = vended
        self.secret = secret_id()
        self.events = EventQueue(self._queue_changed)
        self.pages = Pages(self._accept, self._accept_at_once, around.pages_changed)
        self.loading = LoadErrors(vended, self.events, self.pages)
        self.touched = monotonic()
        self._around = around
        self._changes = ResourceChanges(vended, around.announce)
        self._lock = Lock()
        self._timers = Timers(around.tasks, self._fire)
        self.polls = LongPolls(self.attach, around.tasks)
        self._life = WorkerSupervisor(self._launch, self._outputs)
        self._displayed: str | None = None
        self._refreshing = False
        self._looked = -WATCHED_SECONDS

    @property
    def idle(self) -> float:
        """Seconds since anything happened; 0 while a page or a waiter is here."""
        return 0.0 if self.pages or self.events.polling else monotonic() - self.touched

    @property
    def over(self) -> str | None:
        """Why the session has ended for good, if it has."""
        return self._life.end_reason

    async def start(self) -> None:
        """Start the Lua world.

        Raises:
            LuaError: the project's start-up code failed.
        """
        await self._life.start()

    async def call(self, op: Op, *args: Scalar) -> Reply:
        """Do one thing in Lua after everything asked before it, and show the pages what changed.

        Raises:
            SessionGoneError: the session is over, or its world died of this very thing.
        """
        self.touched = monotonic()
        async with self._lock:
            if self._life.crash_reason is not None and self._life.end_reason is None:
                with CancelScope(shield=True):
                    await self._restart_worker(self._life.crash_reason)
            try:
                return await self._life.world().call(op, *args, facts=self._facts())
            except SessionGoneError as error:
                self._world_ended(error.message)
                raise
            finally:
                if self._life.end_reason is None:
                    self._changes.after(op)  # also if whoever asked has lost interest: Lua goes on

    async def call_and_log(self, op: Op, *args: Scalar) -> Reply | None:
        """Enter for a cause of our own; nobody waits for the answer, so trouble is only logged."""
        try:
            reply = await self.call(op, *args)
        except UiMcpError as error:
            _log.info("session %s: %s: %s", self.vended, op, error.message)
            return None
        except Exception:  # noqa: BLE001 — a mistake of ours must not end the server that this task belongs to
            _log.exception("session %s: %s", self.vended, op)
            return None
        if reply.fault is not None:
            _log.info("session %s: %s: %s", self.vended, op, reply.fault.message)
        return reply

    async def run_lua(self, code: str) -> str:
        """Run a chunk and return its first value as JSON text.

        Raises:
            LuaError: it failed; the details carry the traceback.
        """
        return raise_for_fault(await self.call(Op.RUN, code)).result

    async def display(self, name: str) -> None:
        """Load an app if need be and show it.

        Raises:
            UiMcpError: there is no such app, or its code failed.
        """
        raise_for_fault(await self.call(Op.DISPLAY, name))

    async def state_json(self) -> str:
        """Return the app's state with the queued events under `_events`, as JSON text."""
        return with_events(raise_for_fault(await self.call(Op.STATE)).result, self.events.texts())

    async def variables_json(self) -> str:
        """Return all variables, parents before children, as JSON text; compute times are measured from now on."""
        self._looked = monotonic()
        return raise_for_fault(await self.call(Op.VARIABLES)).result

    def refresh(self) -> None:
        """Look for changes soon and show them; wishes that come together are one."""
        if self.pages and not self._refreshing:
            self._refreshing = True
            self._around.tasks.start_soon(self._refresh)

    @asynccontextmanager
    async def attach(self, *, driven: bool = False) -> AsyncIterator[Connection]:
        """Connect a page for the length of the block; a `driven` one has nobody before it.

        Raises:
            SessionGoneError: the session is over.
        """
        connection = self.pages.add(driven=driven)
        try:
            raise_for_fault(await self.call(Op.OPEN, connection.number))
            yield connection
        finally:
            if self.pages.remove(connection):
                self._around.tasks.start_soon(self.call_and_log, Op.CLOSE, connection.number)

    async def wait_rendered(self, page: Connection) -> None:
        """Return when a page shows what came of everything it has sent.

        Raises:
            SessionGoneError: the page left, or the session is over.
        """
        await page.queries.wait_rendered()
        async with self._lock:
            await self._life.world().call(Op.REFRESH, facts=self._facts())
        await page.queries.wait_rendered()

    async def end(self, reason: str = "it ended") -> None:
        """Close the pages, release the waiters and free the world."""
        if self._life.end_reason is None:
            self._life.end_reason = reason
            self.pages.notify("info", "This session has ended.", NOTICE_ENDED)
        self._timers.cancel_all()
        self.pages.close(SESSION_ENDED, "session ended")
        self.events.close()
        await self._life.close()
        async with self._lock:  # a world that was being started meanwhile
            await self._life.close()

    async def _launch(self, outputs: WorkerOutputs) -> Worker:
        return await self._around.launch(self.secret, outputs)

    def _outputs(self) -> WorkerOutputs:
        return WorkerOutputs(
            self.pages, self.events, self._timers, self._changes.variables, self._noted, self._world_ended
        )

    async def _accept(self, connection: Connection, frame: str) -> None:
        reply = await self.call_and_log(Op.FRAME, connection.number, frame)
        if reply is not None and reply.fault is not None:
            self._refuse(connection, reply.fault)

    def _refuse(self, connection: Connection, fault: LuaFault) -> None:
        connection.outbox.put(notice_frame("error", fault.message, fault.code))

    def _accept_at_once(self, connection: Connection, frame: str) -> bool:
        """Begin what a page sent, behind what is being done; False if it must wait for a turn of its own."""
        if self._lock.locked() or self._life.crash_reason is not None or self._life.end_reason is not None:
            return False
        try:
            answer = self._life.world().ask(Op.FRAME, connection.number, frame, facts=self._facts())
        except SessionGoneError:
            return False
        if answer is None:
            return False
        self.touched = monotonic()
        answer.add_done_callback(partial(self._accepted, connection))
        return True

    def _accepted(self, connection: Connection, answer: Future[Reply]) -> None:
        gone = answer.exception()
        if gone is not None:
            self._world_ended(str(gone))
        elif (fault := answer.result().fault) is not None:
            _log.info("session %s: %s: %s", self.vended, Op.FRAME, fault.message)
            self._refuse(connection, fault)
        if self._life.end_reason is None:
            self._changes.after(Op.FRAME)

    async def _fire(self, handle: int) -> None:
        await self.call_and_log(Op.TIMER, handle)

    async def _refresh(self) -> None:
        self._refreshing = False
        await self.call_and_log(Op.REFRESH)

    def _facts(self) -> EntryContext:
        queue = self.events
        return EntryContext(
            polling=queue.polling,
            waited=queue.wait_time,
            pending=len(queue),
            room=MAX_EVENTS - len(queue),
            room_bytes=MAX_BYTES - queue.size,
            status=self._around.status(),
            timing=self._around.timing or monotonic() - self._looked < WATCHED_SECONDS,
        )

    def _noted(self, kind: str, text: str) -> None:
        if kind == "displayed":
            self._displayed = text
        elif kind == "load_error":
            self.loading.failed(loads(text))
        elif kind == "loaded":
            self.loading.resolved(text)
        else:
            if kind == "refused":
                self._tell_refused(loads(text))
            self._around.note(kind, text)

    def _tell_refused(self, refusal: JsonObject) -> None:
        self.events.push_system(system_event("permission_denied", {"session": self.vended, **refusal}))
        self.pages.notify("warning", str(refusal["message"]), "permission_denied")

    def _world_ended(self, reason: str) -> None:
        if self._life.crash_reason is None and self._life.end_reason is None:
            self._life.crash_reason = reason
            self._around.tasks.start_soon(self.call_and_log, Op.REFRESH)

    async def _restart_worker(self, reason: str) -> None:
        _log.warning("session %s: its Lua world ended: %s", self.vended, reason)
        self._timers.cancel_all()
        await self._life.replace()
        over = self._life.end_reason
        facts = {"session": self.vended, "restarted": over is None, "reason": over or reason}
        self.events.push_system(system_event("session_restarted", facts))
        if over is not None:
            self.pages.notify("error", f"The app stopped and stays down: {over}", NOTICE_ENDED)
            self.pages.close(SESSION_ENDED, "session ended")
            return
        self.pages.notify("warning", f"The app stopped and was started again: {reason}", NOTICE_RESTARTED)
        self.pages.close(RESTARTED, "session restarted")
        await self._show_again()

    async def _show_again(self) -> None:
        if self._displayed is None:
            return
        reply = await self._life.world().call(Op.DISPLAY, self._displayed, facts=self._facts())
        if reply.fault is not None:
            self.loading.failed({"name": self._displayed, "message": reply.fault.message})

    def _queue_changed(self, change: Change) -> None:
        self.touched = monotonic()
        self._changes.events()
        if change != "pushed":
            self.refresh()
