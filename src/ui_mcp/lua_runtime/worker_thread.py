"""Worlds inside this process, for tests and for many sessions; a hard Lua crash would take the process along."""

import anyio
from anyio import from_thread, to_thread

from ui_mcp.errors import SessionGoneError
from ui_mcp.lua_runtime.interface import (
    EMPTY_CONTEXT,
    EntryContext,
    Flat,
    Op,
    OutputSink,
    Reply,
    WorkerConfig,
    dispatch_output,
    parse_reply,
    start_error,
)
from ui_mcp.lua_runtime.vm import LuaVm


class ThreadWorkerHost:
    """Runs each world's entries in a worker thread."""

    def __init__(self, threads: int = 64) -> None:
        self._limiter = anyio.CapacityLimiter(threads)

    async def launch(self, launch: WorkerConfig, outputs: OutputSink) -> "ThreadWorker":
        """Start a world and run the project's start-up files.

        Raises:
            LuaError: main.lua or mcp.lua failed.
        """
        world = ThreadWorker(launch, outputs, self._limiter)
        reply = await world.enter_raw("start", (), EMPTY_CONTEXT)
        if reply.fault:
            raise start_error(reply.fault)
        return world


class ThreadWorker:
    """A world whose Lua runs in a worker thread."""

    def __init__(self, launch: WorkerConfig, outputs: OutputSink, limiter: anyio.CapacityLimiter) -> None:
        self._outputs = outputs
        self._limiter = limiter
        self._reason = "The session has ended"
        self._core: LuaVm | None = LuaVm(launch.settings(), self._emit, _unwatched)

    async def call(self, op: Op, *args: Flat, facts: EntryContext = EMPTY_CONTEXT) -> Reply:
        """Do one thing, detect what changed, and put out the frames for the pages.

        Raises:
            SessionGoneError: the world has ended.
        """
        return await self.enter_raw(op.value, args, facts)

    def ask(self, op: Op, *args: Flat, facts: EntryContext = EMPTY_CONTEXT) -> None:
        """Decline: threads would overtake each other."""

    async def enter_raw(self, op: str, args: tuple[Flat, ...], facts: EntryContext) -> Reply:
        """Enter by the operation's plain name."""
        core = self._core
        if core is None:
            raise SessionGoneError(self._reason)
        flat = await to_thread.run_sync(core.call, op, args, facts, limiter=self._limiter)
        reply = parse_reply(flat, self._outputs)
        if core.overfull:
            self._reason = "memory: Lua memory limit reached"
            await self.close()
            self._outputs.ended(self._reason)
        return reply

    async def close(self) -> None:
        """Drop the runtime; safe to call twice."""
        self._core = None

    def _emit(self, kind: str, text: str, number: float) -> None:
        from_thread.run_sync(dispatch_output, self._outputs, kind, text, number)


def _unwatched(_seconds: float) -> None:
    return
