"""Starts, watches and restarts the worker; timers; load errors."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

from anyio import CancelScope, sleep
from anyio.abc import TaskGroup

from ui_mcp.errors import RefusedError, SessionGoneError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lua_runtime.interface import Worker
from ui_mcp.ui.sessions.events import EventQueue
from ui_mcp.ui.sessions.pages import Pages, system_event
from ui_mcp.wire import NOTICE_LOAD_ERROR, NOTICE_LOADED

WINDOW_SECONDS = 60.0
MOST_CRASHES = 3


class CrashLimiter:
    """Counts recent crashes; the third within a minute is one too many."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MOST_CRASHES)

    def may_restart(self, now: float) -> bool:
        """Note a crash and say whether to try again."""
        self._times.append(now)
        return len(self._times) < MOST_CRASHES or now - self._times[0] > WINDOW_SECONDS


MAX_TIMERS = 10_000
"""As in lua/engine/session.lua, which refuses the next one."""


class Timers:
    """Waits for due times; each timer fires once and is forgotten."""

    def __init__(self, tasks: TaskGroup, fire: Callable[[int], Awaitable[None]]) -> None:
        self._tasks = tasks
        self._fire = fire
        self._waiting: dict[int, CancelScope] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def start(self, handle: int, seconds: float) -> None:
        """Fire `handle` after `seconds`; an earlier wish for the same handle is replaced.

        Raises:
            RefusedError: there are too many; the engine refuses them first, so its process cannot be believed any more.
        """
        self.cancel(handle)
        if len(self._waiting) >= MAX_TIMERS:
            raise RefusedError(f"{MAX_TIMERS} timers are waiting, the most a session may have")
        scope = self._waiting[handle] = CancelScope()
        self._tasks.start_soon(self._wait, handle, max(seconds, 0.0), scope)

    def cancel(self, handle: int) -> None:
        """Forget a timer; unknown handles are ignored."""
        scope = self._waiting.pop(handle, None)
        if scope is not None:
            scope.cancel()

    def cancel_all(self) -> None:
        """Forget every timer."""
        for handle in list(self._waiting):
            self.cancel(handle)

    async def _wait(self, handle: int, seconds: float, scope: CancelScope) -> None:
        with scope:
            await sleep(seconds)
        # One that was cancelled or replaced in the moment it woke is no longer the one that waits.
        if self._waiting.get(handle) is scope:
            del self._waiting[handle]
            await self._fire(handle)


@dataclass(slots=True)
class WorkerOutputs:
    """Passes frames, events, timers and remarks on while its world is the session's present one."""

    pages: Pages
    events: EventQueue
    timers: Timers
    on_frame: Callable[[], None]
    on_note: Callable[[str, str], None]
    on_end: Callable[[str], None]
    current: bool = True

    def frame(self, connection: int, text: str) -> None:
        """Send a page what changed."""
        if self.current:
            self.pages.deliver(connection, text)
            self.on_frame()

    def event(self, text: str) -> None:
        """Queue an event; the world has counted the room that is left."""
        if self.current:
            self.events.push_system(text)

    def timer(self, handle: int, seconds: float) -> None:
        """Start a timer."""
        if self.current:
            self.timers.start(handle, seconds)

    def cancel(self, handle: int) -> None:
        """Stop a timer."""
        if self.current:
            self.timers.cancel(handle)

    def note(self, kind: str, text: str) -> None:
        """Pass a remark on."""
        if self.current:
            self.on_note(kind, text)

    def ended(self, reason: str) -> None:
        """Say that the world is dead."""
        if self.current:
            self.on_end(reason)


class WorkerSupervisor:
    """Holds the present world; `died` and `over` say why there is none."""

    def __init__(
        self, launch: Callable[[WorkerOutputs], Awaitable[Worker]], outputs: Callable[[], WorkerOutputs]
    ) -> None:
        self._launch = launch
        self._new_outputs = outputs
        self._outputs: WorkerOutputs | None = None
        self._world: Worker | None = None
        self._crashes = CrashLimiter()
        self.crash_reason: str | None = None
        """Why the world ended by itself, until it is replaced."""
        self.end_reason: str | None = None
        """Why there will be no other world."""

    def world(self) -> Worker:
        """Return the present world.

        Raises:
            SessionGoneError: there is none any more.
        """
        if self.end_reason is not None or self._world is None:
            raise SessionGoneError(f"the session is over: {self.end_reason or 'it never started'}")
        return self._world

    async def start(self) -> None:
        """Start a world.

        Raises:
            LuaError: the project's start-up code failed.
        """
        self._outputs = self._new_outputs()
        self._world = await self._launch(self._outputs)

    async def replace(self) -> None:
        """Start another world after the present one died; failing that, the life is over."""
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
        """End the present world; what it still says is not heard."""
        if self._outputs is not None:
            self._outputs.current = False
        if self._world is not None:
            await self._world.close()


class LoadErrors:
    """What one session could not load."""

    def __init__(self, vended: str, events: EventQueue, pages: Pages) -> None:
        self._vended = vended
        self._events = events
        self._pages = pages
        self._shown: dict[str, str] = {}
        """What pages were told about a file."""

    def failed(self, problem: JsonObject) -> None:
        """Tell page and agent; `file` or `name` says what could not be loaded, and `message` why."""
        file, message = str(problem.get("file", "")), str(problem.get("message", "An app could not be loaded"))
        self.resolved(file)
        self._events.push_system(system_event("load_error", {"session": self._vended, **problem}))
        self._pages.notify("error", message, NOTICE_LOAD_ERROR)
        if file:
            self._shown[file] = message

    def resolved(self, file: str) -> None:
        """Take back what pages were told about a file."""
        message = self._shown.pop(file, None)
        if message is not None:
            self._pages.notify("info", message, NOTICE_LOADED)
