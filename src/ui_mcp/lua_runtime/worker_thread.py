"""Workers in threads of the server, for tests and for many sessions; a hard Lua crash ends the server too."""

import anyio
from anyio import from_thread, to_thread

from ui_mcp.errors import SessionGoneError
from ui_mcp.lua_runtime.interface import (
    EMPTY_CONTEXT,
    START_FAILED,
    EntryContext,
    OutputSink,
    Reply,
    Scalar,
    WorkerConfig,
    dispatch_output,
    parse_reply,
    raise_for_fault,
)
from ui_mcp.lua_runtime.vm import LuaVm
from ui_mcp.wire import Op


class ThreadWorkerHost:
    """Starts workers whose calls share a limited number of threads."""

    def __init__(self, threads: int = 64) -> None:
        self._limiter = anyio.CapacityLimiter(threads)

    async def launch(self, config: WorkerConfig, outputs: OutputSink) -> "ThreadWorker":
        """Start a worker and run the project's start-up files.

        Raises:
            UiMcpError: main.lua or mcp.lua failed.
        """
        worker = ThreadWorker(config, outputs, self._limiter)
        raise_for_fault(await worker.call(Op.START), START_FAILED)
        return worker


class ThreadWorker:
    def __init__(self, config: WorkerConfig, outputs: OutputSink, limiter: anyio.CapacityLimiter) -> None:
        self._outputs = outputs
        self._limiter = limiter
        self._reason = "The session has ended"
        self._vm: LuaVm | None = LuaVm(config.settings(), self._emit, _no_watch)

    async def call(self, op: Op, *args: Scalar, facts: EntryContext = EMPTY_CONTEXT) -> Reply:
        """Run one operation, detect changes and send the frames of the pages.

        Raises:
            SessionGoneError: the worker has ended.
        """
        vm = self._vm
        if vm is None:
            raise SessionGoneError(self._reason)
        values = await to_thread.run_sync(vm.call, op.value, args, facts, limiter=self._limiter)
        reply = parse_reply(values, self._outputs)
        if vm.overfull:
            self._reason = "memory: Lua memory limit reached"
            await self.close()
            self._outputs.ended(self._reason)
        return reply

    async def close(self) -> None:
        """Drop the VM; safe to call twice."""
        self._vm = None

    def _emit(self, kind: str, text: str, number: float) -> None:
        from_thread.run_sync(dispatch_output, self._outputs, kind, text, number)


def _no_watch(_seconds: float) -> None:
    return
