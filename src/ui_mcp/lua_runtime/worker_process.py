"""Server side of a worker in a child process."""

import asyncio
import signal
import subprocess
from collections import deque
from typing import cast

import anyio

from ui_mcp.errors import SessionGoneError, UiMcpError
from ui_mcp.jsontypes import dumps
from ui_mcp.lua_runtime.fork_server_process import FORKS, FROZEN_COMMAND, command
from ui_mcp.lua_runtime.interface import (
    EMPTY_CONTEXT,
    EntryContext,
    Flat,
    Op,
    OutputSink,
    Process,
    ProcessListener,
    Reply,
    WorkerConfig,
    decode_reply,
    dispatch_output,
    parse_reply,
    start_error,
    stopped,
)
from ui_mcp.lua_runtime.messages import EXIT_OVERFULL, EXIT_OVERRUN, HEAD, encode_request, length

GRACE = 2.0
"""Seconds after its budget when a child that does nothing at all is given up; its own alarm comes a second earlier."""

QUEUED = 32
"""Questions a child may have before it while more are put without waiting."""


class ProcessWorkerHost:
    """Starts a child process for each world."""

    async def launch(self, launch: WorkerConfig, outputs: OutputSink) -> "ProcessWorker":
        """Start a world and run the project's start-up files.

        Raises:
            LuaError: main.lua or mcp.lua failed.
            SessionGoneError: the process ended at once.
        """
        world = ProcessWorker(launch, outputs)
        world.process = await _process(world)
        try:
            reply = await world.begin(dumps(launch.settings()))
        except BaseException:
            await world.close()
            raise
        if reply.fault:
            await world.close()
            raise start_error(reply.fault)
        return world


class ProcessWorker:
    """A world at the other end of a pipe; the loop calls it as bytes arrive, without a task in between."""

    def __init__(self, launch: WorkerConfig, outputs: OutputSink) -> None:
        self._outputs = outputs
        self._seconds = launch.max_seconds
        self._received = bytearray()
        self._unanswered: deque[asyncio.Future[Reply]] = deque()
        """What the child has been asked, in order; whoever asked may have lost interest."""
        self._asked = 0.0
        """Since when the child has been at the first of them, by the loop's clock."""
        self._lookout: asyncio.TimerHandle | None = None
        self._gone = anyio.Event()
        self._closing = False
        self._reason = ""
        self.process: Process

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self.process.pid

    async def begin(self, settings: str) -> Reply:
        """Hand over the settings and run the start-up files."""
        self.process.write(encode_request([settings]))
        return await self._ask("start", EMPTY_CONTEXT, ())

    def call(self, op: Op, *args: Flat, facts: EntryContext = EMPTY_CONTEXT) -> asyncio.Future[Reply]:
        """Begin one thing at once; what changed has been put out when it is answered, even if nobody waits any more.

        Raises:
            SessionGoneError: the world has ended.
        """
        return self._ask(op.value, facts, args)

    def ask(self, op: Op, *args: Flat, facts: EntryContext = EMPTY_CONTEXT) -> asyncio.Future[Reply] | None:
        """Enter behind what is still being done; None if that is a lot already.

        Raises:
            SessionGoneError: the world has ended.
        """
        return self._ask(op.value, facts, args) if len(self._unanswered) < QUEUED else None

    async def close(self) -> None:
        """End the process; safe to call twice."""
        self._closing = True
        with anyio.CancelScope(shield=True):
            self.process.kill()
            await self._gone.wait()

    def _ask(self, op: str, facts: EntryContext, args: tuple[Flat, ...]) -> asyncio.Future[Reply]:
        if self._reason or self._closing:
            raise SessionGoneError(self._reason or "The session has ended")
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._unanswered.append(answer)
        if len(self._unanswered) == 1:
            self._asked = answer.get_loop().time()
        if self._lookout is None:
            self._look()
        self.process.write(encode_request((op, len(facts), *facts, *args)))
        return answer

    def _look(self) -> None:
        """See now and then whether answers come; a child that overruns ends itself, unless it cannot even do that."""
        if not self._unanswered:
            self._lookout = None
            return
        loop = self._unanswered[0].get_loop()
        waited, budget = loop.time() - self._asked, self._seconds + GRACE
        # Looking for changes has budgets of its own, so a child that works may take several times as long.
        if waited >= 10 * self._seconds + 30:
            self._reason = f"timeout: the session's process gave no answer for {waited:.0f} s"
        elif waited >= budget and stopped(self.pid):
            self._reason = f"timeout: the session's process was stopped and gave no answer for {waited:.0f} s"
        else:
            self._lookout = loop.call_later(max(budget - waited, 1.0), self._look)
            return
        self.process.kill()

    def _take(self, kind: Flat, *values: Flat) -> None:
        if kind != "end":
            name, text, number = values
            dispatch_output(self._outputs, str(name), str(text), float(number or 0))
            return
        reply = parse_reply(values, self._outputs)
        answer = self._unanswered.popleft()
        self._asked = answer.get_loop().time()  # the next one is being worked on from now on
        if not answer.done():
            answer.set_result(reply)

    def received(self, data: bytes) -> None:
        """Act on every message that has arrived whole."""
        received, at = self._received, 0
        received += data
        try:
            while len(received) >= at + HEAD and len(received) >= (end := at + HEAD + length(received[at : at + HEAD])):
                self._take(*decode_reply(bytes(received[at + HEAD : end])))
                at = end
        except (ValueError, UiMcpError):  # no child of ours says that
            self.process.kill()
        del received[:at]

    def exited(self, status: int | None) -> None:
        """Note why, and tell whoever waits."""
        self._reason = self._reason or _why(status, self._seconds)
        self._gone.set()
        if self._lookout is not None:
            self._lookout.cancel()
        for answer in self._unanswered:
            if not answer.done():
                answer.set_exception(SessionGoneError(self._reason))
        if not self._closing:
            self._outputs.ended(self._reason)


async def _process(world: ProcessWorker) -> Process:
    """Start a process for a world; a nursery that ends meanwhile is replaced once."""
    if FORKS:
        from ui_mcp.lua_runtime.fork_client import fork

        for _ in range(2):
            if forked := await fork(world):
                return forked

    return await spawn(world)


def _why(status: int | None, seconds: float) -> str:
    if status in {EXIT_OVERRUN, -getattr(signal, "SIGALRM", 0)}:
        return f"timeout: Lua code ran longer than {seconds:g} s"
    if status == EXIT_OVERFULL:
        return "memory: Lua memory limit reached"
    if status is None:
        return "The session's process ended"
    return f"The session's process ended with status {status}"


async def spawn(owner: ProcessListener) -> "SpawnedProcess":
    """Start a process for a world.

    Raises:
        OSError: it could not be started.
    """
    words, pipe = command("worker", FROZEN_COMMAND), subprocess.PIPE
    process = SpawnedProcess(owner)
    await asyncio.get_running_loop().subprocess_exec(
        lambda: process, *words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
    )
    return process


class SpawnedProcess(asyncio.SubprocessProtocol):
    """A child of this process, at the other end of two pipes."""

    def __init__(self, owner: ProcessListener) -> None:
        self._owner = owner
        self._open = 2
        """What must end before it has: the process, and the pipe with its last words."""
        self.pid = 0
        self._transport: asyncio.SubprocessTransport
        self._input: asyncio.WriteTransport

    def write(self, data: bytes) -> None:
        """Send at once, or as soon as there is room; to one that has ended, until its end is told, nothing."""
        if not self._input.is_closing():
            self._input.write(data)

    def kill(self) -> None:
        """End it and let go of its pipes."""
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what the loop made: the process and its input."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self.pid = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Pass on what it said."""
        self._owner.received(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that nothing more will be said."""
        if fd == 1:
            self._ended_in_part()

    def process_exited(self) -> None:
        """Note that the process is gone."""
        self._ended_in_part()

    def _ended_in_part(self) -> None:
        self._open -= 1
        if not self._open:
            self._owner.exited(self._transport.get_returncode())
