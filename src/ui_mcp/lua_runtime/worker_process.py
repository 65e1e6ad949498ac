"""Server side of a worker in a child process."""

import asyncio
import signal
import subprocess
from collections import deque
from typing import cast

import anyio

from ui_mcp.errors import SessionGoneError, UiMcpError
from ui_mcp.jsontypes import dumps
from ui_mcp.lua_runtime.fork_client import fork
from ui_mcp.lua_runtime.fork_server import FORKS, FROZEN_COMMAND, command
from ui_mcp.lua_runtime.interface import (
    EMPTY_CONTEXT,
    START_FAILED,
    EntryContext,
    OutputSink,
    Process,
    ProcessListener,
    Reply,
    Scalar,
    WorkerConfig,
    decode_reply,
    dispatch_output,
    parse_reply,
    raise_for_fault,
    stopped,
)
from ui_mcp.lua_runtime.messages import EXIT_OVERFULL, EXIT_OVERRUN, HEAD, encode_request, length
from ui_mcp.wire import Op

GRACE = 2.0
"""Seconds after the time limit when an unresponsive worker is killed; its own watchdog acts a second earlier."""


class ProcessWorkerHost:
    async def launch(self, config: WorkerConfig, outputs: OutputSink) -> "ProcessWorker":
        """Start a worker and run the project's start-up files.

        Raises:
            UiMcpError: main.lua or mcp.lua failed.
            SessionGoneError: the process ended at once.
        """
        worker = ProcessWorker(config, outputs)
        worker.process = await _process(worker)
        try:
            raise_for_fault(await worker.begin(dumps(config.settings())), START_FAILED)
        except BaseException:
            await worker.close()
            raise
        return worker


class ProcessWorker:
    """A worker in a child process; protocol callbacks handle its output without a task per worker."""

    def __init__(self, config: WorkerConfig, outputs: OutputSink) -> None:
        self._outputs = outputs
        self._seconds = config.max_seconds
        self._received = bytearray()
        self._pending: deque[asyncio.Future[Reply]] = deque()
        """Requests without a reply, in order; their callers may have been cancelled."""
        self._started = 0.0
        """When the worker began the first of them, by the loop's clock."""
        self._check: asyncio.TimerHandle | None = None
        self._gone = anyio.Event()
        self._closing = False
        self._reason = ""
        self.process: Process

    @property
    def pid(self) -> int:
        return self.process.pid

    async def begin(self, settings: str) -> Reply:
        """Send the settings and run the start-up files."""
        self.process.write(encode_request([settings]))
        return await self.call(Op.START)

    def call(self, op: Op, *args: Scalar, facts: EntryContext = EMPTY_CONTEXT) -> asyncio.Future[Reply]:
        """Start one operation now; its outputs are delivered before the reply, even if the caller was cancelled.

        Raises:
            SessionGoneError: the worker has ended.
        """
        return self._send(op.value, facts, args)

    async def close(self) -> None:
        """Kill the process and wait for its exit; safe to call twice."""
        self._closing = True
        with anyio.CancelScope(shield=True):
            self.process.kill()
            await self._gone.wait()

    def _send(self, op: str, facts: EntryContext, args: tuple[Scalar, ...]) -> asyncio.Future[Reply]:
        if self._reason or self._closing:
            raise SessionGoneError(self._reason or "The session has ended")
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._pending.append(answer)
        if len(self._pending) == 1:
            self._started = answer.get_loop().time()
        # One timer for all calls, which reschedules itself: most calls end long before it fires.
        if self._check is None:
            self._check_progress()
        self.process.write(encode_request((op, len(facts), *facts, *args)))
        return answer

    def _check_progress(self) -> None:
        """Kill a worker that does not reply; its own watchdog acts earlier, unless the process is stopped."""
        if not self._pending:
            self._check = None
            return
        loop = self._pending[0].get_loop()
        waited, budget = loop.time() - self._started, self._seconds + GRACE
        # Change detection has time limits of its own, so a working child may need several times the limit.
        if waited >= 10 * self._seconds + 30:
            self._reason = f"timeout: the session's process gave no answer for {waited:.0f} s"
        elif waited >= budget and stopped(self.pid):
            self._reason = f"timeout: the session's process was stopped and gave no answer for {waited:.0f} s"
        else:
            self._check = loop.call_later(max(budget - waited, 1.0), self._check_progress)
            return
        self.process.kill()

    def _take(self, kind: Scalar, *values: Scalar) -> None:
        if kind != "end":
            name, text, number = values
            dispatch_output(self._outputs, str(name), str(text), float(number or 0))
            return
        reply = parse_reply(values, self._outputs)
        answer = self._pending.popleft()
        self._started = answer.get_loop().time()  # the worker now begins the next request
        if not answer.done():
            answer.set_result(reply)

    def received(self, data: bytes) -> None:
        """Handle every complete message that has arrived."""
        received, at = self._received, 0
        received += data
        try:
            while len(received) >= at + HEAD and len(received) >= (end := at + HEAD + length(received[at : at + HEAD])):
                self._take(*decode_reply(bytes(received[at + HEAD : end])))
                at = end
        except (ValueError, UiMcpError):  # not the protocol: the worker is broken or compromised
            self.process.kill()
        del received[:at]

    def exited(self, status: int | None) -> None:
        """Record the reason and fail all pending requests."""
        self._reason = self._reason or _exit_reason(status, self._seconds)
        self._gone.set()
        if self._check is not None:
            self._check.cancel()
        for answer in self._pending:
            if not answer.done():
                answer.set_exception(SessionGoneError(self._reason))
        if not self._closing:
            self._outputs.ended(self._reason)


async def _process(worker: ProcessWorker) -> Process:
    """Start a process for a worker; try a second fork server if the first exits meanwhile."""
    if FORKS:
        for _ in range(2):
            if forked := await fork(worker):
                return forked

    return await spawn(worker)


def _exit_reason(status: int | None, seconds: float) -> str:
    if status in {EXIT_OVERRUN, -getattr(signal, "SIGALRM", 0)}:
        return f"timeout: Lua code ran longer than {seconds:g} s"
    if status == EXIT_OVERFULL:
        return "memory: Lua memory limit reached"
    if status is None:
        return "The session's process ended"
    return f"The session's process ended with status {status}"


async def spawn(owner: ProcessListener) -> "SpawnedProcess":
    """Start a worker as a program of its own.

    Raises:
        OSError: it could not be started.
    """
    argv, pipe = command("worker", FROZEN_COMMAND), subprocess.PIPE
    process = SpawnedProcess(owner)
    await asyncio.get_running_loop().subprocess_exec(
        lambda: process, *argv, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
    )
    return process


class SpawnedProcess(asyncio.SubprocessProtocol):
    """A worker started as a child process, connected by two pipes."""

    def __init__(self, owner: ProcessListener) -> None:
        self._owner = owner
        self._open = 2
        """What is still open: the process, and the pipe, which may hold output after the process has exited."""
        self.pid = 0
        self._transport: asyncio.SubprocessTransport
        self._input: asyncio.WriteTransport

    def write(self, data: bytes) -> None:
        """Send, or queue until the pipe has room; do nothing once the worker has exited."""
        if not self._input.is_closing():
            self._input.write(data)

    def kill(self) -> None:
        """Kill it and close its pipes."""
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self.pid = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._owner.received(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._close_part()

    def process_exited(self) -> None:
        self._close_part()

    def _close_part(self) -> None:
        self._open -= 1
        if not self._open:
            self._owner.exited(self._transport.get_returncode())
