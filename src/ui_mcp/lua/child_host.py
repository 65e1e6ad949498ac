"""A process for each world, the default: whatever Lua does to itself ends one session and nothing else."""

import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

import ui_mcp
from ui_mcp.errors import SessionGoneError
from ui_mcp.jsontypes import dumps
from ui_mcp.lua.flat import EXIT_OVERFULL, EXIT_OVERRUN, HEAD, length, pack, unpack
from ui_mcp.lua.host import NO_FACTS, Facts, Flat, Launch, Op, Outputs, Reply
from ui_mcp.lua.replies import reply_of, start_error
from ui_mcp.lua.thread_host import deliver, settings_of

FROZEN_COMMAND = "lua-child"
"""The hidden command by which a self-contained executable starts itself as a child."""

_BROKEN = (
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    ValueError,
)
_START = "import sys; sys.path[:0] = sys.argv[1:]; from ui_mcp.lua.child_main import main; main()"


class ChildHost:
    """Starts a child process for each world."""

    async def launch(self, launch: Launch, outputs: Outputs) -> "ChildWorld":
        """Start a world and run the project's start-up files.

        Raises:
            LuaError: main.lua or mcp.lua failed.
            SessionGoneError: the process ended at once.
        """
        process = await anyio.open_process(
            _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        world = ChildWorld(process, launch, outputs)
        try:
            reply = await world.begin(dumps(settings_of(launch)))
        except BaseException:
            await world.close()
            raise
        if reply.fault:
            await world.close()
            raise start_error(reply.fault)
        return world


class ChildWorld:
    """A world at the other end of a pipe."""

    def __init__(self, process: Process, launch: Launch, outputs: Outputs) -> None:
        self._process = process
        self._outputs = outputs
        self._seconds = launch.max_seconds
        self._source = BufferedByteReceiveStream(process.stdout) if process.stdout else None
        self._closing = False
        self._reason = ""

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    async def begin(self, settings: str) -> Reply:
        """Hand over the settings and run the start-up files."""
        await self._write(settings)
        return await self._converse("start", (), NO_FACTS)

    async def enter(self, op: Op, *args: Flat, facts: Facts = NO_FACTS) -> Reply:
        """Do one thing, detect what changed, and return the frames for the pages.

        Raises:
            SessionGoneError: the world has ended.
        """
        return await self._converse(op.value, args, facts)

    async def wait_ended(self) -> str:
        """Wait until the process is gone and say why."""
        await self._process.wait()
        return await self._end()

    async def close(self) -> None:
        """End the process; safe to call twice."""
        self._closing = True
        with anyio.CancelScope(shield=True):
            if self._process.returncode is None:
                self._process.kill()
            await self._process.aclose()

    async def _converse(self, op: str, args: tuple[Flat, ...], facts: Facts) -> Reply:
        if self._reason or self._closing:
            raise SessionGoneError(self._reason or "The session has ended")
        given = facts.flat
        # Half a conversation would leave the pipe out of step, so a cancelled caller still waits for the answer;
        # the child ends itself when Lua overruns, and the limit here is for a child that cannot even do that.
        with anyio.move_on_after(10 * self._seconds + 30, shield=True):
            try:
                await self._write(op, len(given), *given, *args)
                return await self._answer()
            except (
                anyio.EndOfStream,
                anyio.IncompleteRead,
                anyio.BrokenResourceError,
                anyio.ClosedResourceError,
                ValueError,
            ):
                raise SessionGoneError(await self._end()) from None
        self._process.kill()
        raise SessionGoneError(await self._end())

    async def _answer(self) -> Reply:
        while True:
            kind, *values = await self._read()
            if kind == "end":
                return reply_of(values)
            name, text, number = values
            deliver(self._outputs, str(name), str(text), float(number or 0))

    async def _write(self, *values: Flat) -> None:
        if self._process.stdin is None:
            raise anyio.ClosedResourceError
        await self._process.stdin.send(pack(values))

    async def _read(self) -> list[Flat]:
        if self._source is None:
            raise anyio.ClosedResourceError
        return unpack(await self._source.receive_exactly(length(await self._source.receive_exactly(HEAD))))

    async def _end(self) -> str:
        """Note once why the process ended, and tell."""
        status = await self._process.wait()
        if not self._reason:
            self._reason = _why(status, self._seconds)
            if not self._closing:
                self._outputs.ended(self._reason)
        return self._reason


def _command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_COMMAND]
    program = Path(ui_mcp.__file__).parent.parent
    found = find_spec("lupa")
    lupa = Path(found.origin).parent.parent if found and found.origin else program
    # Isolated and without `site`: a child needs two packages, and starts in half the time.
    return [sys.executable, "-I", "-S", "-c", _START, str(program), str(lupa)]


def _why(status: int, seconds: float) -> str:
    if status in {EXIT_OVERRUN, -getattr(signal, "SIGALRM", 0)}:
        return f"timeout: Lua code ran longer than {seconds:g} s"
    if status == EXIT_OVERFULL:
        return "memory: Lua memory limit reached"
    return f"The session's process ended with status {status}"
