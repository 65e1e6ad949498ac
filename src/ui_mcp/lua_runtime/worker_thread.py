"""Worlds inside this process, for tests and for many sessions; a hard Lua crash would take the process along."""

import anyio
from anyio import from_thread, to_thread

from ui_mcp.errors import SessionGoneError
from ui_mcp.lua_runtime.interface import (
    NO_FACTS,
    Facts,
    Flat,
    Launch,
    Op,
    Outputs,
    Reply,
    deliver,
    reply_of,
    start_error,
)
from ui_mcp.lua_runtime.vm import Core


class ThreadHost:
    """Runs each world's entries in a worker thread."""

    def __init__(self, threads: int = 64) -> None:
        self._limiter = anyio.CapacityLimiter(threads)

    async def launch(self, launch: Launch, outputs: Outputs) -> "ThreadWorld":
        """Start a world and run the project's start-up files.

        Raises:
            LuaError: main.lua or mcp.lua failed.
        """
        world = ThreadWorld(launch, outputs, self._limiter)
        reply = await world.enter_raw("start", (), NO_FACTS)
        if reply.fault:
            raise start_error(reply.fault)
        return world


class ThreadWorld:
    """A world whose Lua runs in a worker thread."""

    def __init__(self, launch: Launch, outputs: Outputs, limiter: anyio.CapacityLimiter) -> None:
        self._outputs = outputs
        self._limiter = limiter
        self._reason = "The session has ended"
        self._core: Core | None = Core(launch.settings(), self._emit, _unwatched)

    async def enter(self, op: Op, *args: Flat, facts: Facts = NO_FACTS) -> Reply:
        """Do one thing, detect what changed, and put out the frames for the pages.

        Raises:
            SessionGoneError: the world has ended.
        """
        return await self.enter_raw(op.value, args, facts)

    def ask(self, op: Op, *args: Flat, facts: Facts = NO_FACTS) -> None:
        """Decline: threads would overtake each other."""

    async def enter_raw(self, op: str, args: tuple[Flat, ...], facts: Facts) -> Reply:
        """Enter by the operation's plain name."""
        core = self._core
        if core is None:
            raise SessionGoneError(self._reason)
        flat = await to_thread.run_sync(core.enter, op, args, facts, limiter=self._limiter)
        reply = reply_of(flat, self._outputs)
        if core.overfull:
            self._reason = "memory: Lua memory limit reached"
            await self.close()
            self._outputs.ended(self._reason)
        return reply

    async def close(self) -> None:
        """Drop the runtime; safe to call twice."""
        self._core = None

    def _emit(self, kind: str, text: str, number: float) -> None:
        from_thread.run_sync(deliver, self._outputs, kind, text, number)


def _unwatched(_seconds: float) -> None:
    return
