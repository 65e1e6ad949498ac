"""The timers of a session: they wait here and fire through the session's door."""

from collections.abc import Awaitable, Callable

from anyio import CancelScope, sleep
from anyio.abc import TaskGroup

from ui_mcp.errors import RefusedError

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
