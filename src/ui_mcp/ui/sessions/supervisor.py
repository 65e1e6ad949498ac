"""Starts, watches and restarts a session's worker; its timers and load errors."""

from asyncio import TimerHandle, get_running_loop
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from anyio.abc import TaskGroup

from ui_mcp.errors import RefusedError, SessionGoneError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lua_runtime.interface import Worker
from ui_mcp.ui.sessions.events import EventQueue
from ui_mcp.ui.sessions.pages import Connection, Pages, notice_frame, system_event
from ui_mcp.ui.sessions.problems import Problems, load_problem
from ui_mcp.wire import NOTICE_LOAD_ERROR, NOTICE_LOADED

WINDOW_SECONDS = 60.0
MAX_CRASHES = 3


class CrashLimiter:
    """Limits restarts: the third crash within a minute is final."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MAX_CRASHES)

    def may_restart(self, now: float) -> bool:
        """Record a crash and return whether to restart the worker."""
        self._times.append(now)
        return len(self._times) < MAX_CRASHES or now - self._times[0] > WINDOW_SECONDS


MAX_TIMERS = 10_000
"""The same limit as in lua_runtime/engine/session.lua, which refuses further timers."""


class Timers:
    """Pending timers of a session; each fires once. They wait in the heap of the event loop, without a task each."""

    def __init__(self, tasks: TaskGroup, fire: Callable[[int], Awaitable[None]]) -> None:
        self._tasks = tasks
        self._fire = fire
        self._pending: dict[int, TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def start(self, handle: int, seconds: float) -> None:
        """Fire `handle` after `seconds`; an earlier timer of the same handle is replaced.

        Raises:
            RefusedError: there are too many; the engine refuses them first, so its process is no longer trusted.
        """
        self.cancel(handle)
        if len(self._pending) >= MAX_TIMERS:
            raise RefusedError(f"{MAX_TIMERS} timers are waiting, the most a session may have")
        self._pending[handle] = get_running_loop().call_later(max(seconds, 0.0), self._due, handle)

    def cancel(self, handle: int) -> None:
        """Cancel a timer; unknown handles are ignored."""
        timer = self._pending.pop(handle, None)
        if timer is not None:
            timer.cancel()

    def cancel_all(self) -> None:
        for handle in list(self._pending):
            self.cancel(handle)

    def _due(self, handle: int) -> None:
        self._tasks.start_soon(self._run, handle, self._pending[handle])

    async def _run(self, handle: int, timer: TimerHandle) -> None:
        # The timer may have been cancelled or replaced since it was due.
        if self._pending.get(handle) is timer:
            del self._pending[handle]
            await self._fire(handle)


@dataclass(slots=True)
class WorkerOutputs:
    """Forwards frames, events, timers and notes, as long as its worker is the current one."""

    pages: Pages
    events: EventQueue
    timers: Timers
    on_frame: Callable[[], None]
    on_note: Callable[[str, str], None]
    on_end: Callable[[str], None]
    current: bool = True

    def frame(self, connection: int, text: str) -> None:
        if self.current:
            self.pages.deliver(connection, text)
            self.on_frame()

    def event(self, text: str) -> None:
        if self.current:
            self.events.push(text)

    def timer(self, handle: int, seconds: float) -> None:
        if self.current:
            self.timers.start(handle, seconds)

    def cancel(self, handle: int) -> None:
        if self.current:
            self.timers.cancel(handle)

    def note(self, kind: str, text: str) -> None:
        if self.current:
            self.on_note(kind, text)

    def ended(self, reason: str) -> None:
        if self.current:
            self.on_end(reason)


class WorkerSupervisor:
    """Holds the current worker; `crash_reason` and `end_reason` say why there is none."""

    def __init__(
        self, launch: Callable[[WorkerOutputs], Awaitable[Worker]], outputs: Callable[[], WorkerOutputs]
    ) -> None:
        self._launch = launch
        self._new_outputs = outputs
        self._outputs: WorkerOutputs | None = None
        self._worker: Worker | None = None
        self._crashes = CrashLimiter()
        self.crash_reason: str | None = None
        """Why the worker exited by itself, until it is replaced."""
        self.end_reason: str | None = None
        """Why the session has ended and gets no other worker."""

    def worker(self) -> Worker:
        """Return the current worker.

        Raises:
            SessionGoneError: the session has ended.
        """
        if self.end_reason is not None or self._worker is None:
            raise SessionGoneError(f"the session is over: {self.end_reason or 'it never started'}")
        return self._worker

    async def start(self) -> None:
        """Start a worker.

        Raises:
            LuaError: the project's start-up code failed.
        """
        self._outputs = self._new_outputs()
        self._worker = await self._launch(self._outputs)

    async def replace(self) -> None:
        """Start another worker after a crash; set `end_reason` if it fails or crashes are too frequent."""
        reason, self.crash_reason = self.crash_reason or "", None
        await self.close()
        if not self._crashes.may_restart(monotonic()):
            self.end_reason = f"it crashed three times within a minute: {reason}"
            return
        try:
            await self.start()
        except UiMcpError as error:
            self.end_reason = error.message

    async def close(self) -> None:
        """End the current worker and ignore its further outputs."""
        if self._outputs is not None:
            # First: outputs of the old worker must not reach pages and timers of the next one.
            self._outputs.current = False
        if self._worker is not None:
            await self._worker.close()


class LoadErrors:
    """Reports files that one session could not load."""

    def __init__(self, vended: str, events: EventQueue, pages: Pages, problems: Problems) -> None:
        self._vended = vended
        self._events = events
        self._pages = pages
        self._problems = problems
        self._shown: dict[str, str] = {}
        """File → message shown in the pages."""
        self._held: list[JsonObject] | None = None

    @contextmanager
    def held(self) -> Iterator[list[JsonObject]]:
        """Collect the errors of the block instead of reporting them: the caller may take the files back."""
        outer, self._held = self._held, []
        try:
            yield self._held
        finally:
            self._held = outer

    def failed(self, problem: JsonObject) -> None:
        """Report an error to pages and agent; `file` or `name` is what could not be loaded, `message` the reason."""
        if self._held is not None:
            self._held.append(problem)
            return
        file, message = str(problem.get("file", "")), str(problem.get("message", "An app could not be loaded"))
        self.resolved(file)
        self._events.push_system(system_event("load_error", {"session": self._vended, **problem}))
        self._pages.notify("error", message, NOTICE_LOAD_ERROR)
        if file:
            self._shown[file] = message
        self._problems.show(load_problem(file or str(problem.get("name", "")), message))

    def repeat_for(self, connection: Connection) -> None:
        """Show the errors that still hold in a page that has just connected."""
        for message in self._shown.values():
            connection.outbox.put(notice_frame("error", message, NOTICE_LOAD_ERROR))

    def resolved(self, file: str) -> None:
        """Withdraw the error shown for a file, if any."""
        message = self._shown.pop(file, None)
        if message is not None:
            self._problems.resolve(load_problem(file, message).id)
            self._pages.notify("info", message, NOTICE_LOADED)
