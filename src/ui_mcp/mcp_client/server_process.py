"""Starts a server as a child process, initializes it and stops it."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio import to_thread

from ui_mcp.errors import MountError, UiMcpError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsonrpc.pipes import LineSplitter, OversizedLine, PipeReader, Writer
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.negotiation import Mode, follow_changes, handshake_first
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.transport import Command, NotificationHandlers
from ui_mcp.processes import WATCHDOG


@dataclass(frozen=True, slots=True)
class ShutdownTimeouts:
    """Seconds to wait after closing stdin, and after SIGTERM, for the process to exit."""

    by_itself: float = 2.0
    asked: float = 3.0


FAST_SHUTDOWN = ShutdownTimeouts(0.5, 0.5)


@dataclass(frozen=True, slots=True)
class Pipes:
    stdin: int
    stdout: int
    stderr: int


@asynccontextmanager
async def child(command: Command, timeouts: Callable[[], ShutdownTimeouts]) -> AsyncIterator[Pipes]:
    """Run a command for as long as the block runs.

    Raises:
        MountError: it cannot be started.
    """
    process = await to_thread.run_sync(_start, command)
    group = process.pid
    WATCHDOG.watch(group)  # kills the group if this process dies without stopping it
    try:
        yield Pipes(_fd(process.stdin), _fd(process.stdout), _fd(process.stderr))
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_end, process, timeouts())
        WATCHDOG.forget(group)


def _start(command: Command) -> subprocess.Popen[bytes]:
    environment = {**_inherited(), **command.env}
    program = shutil.which(command.command, path=environment.get("PATH"))
    if program is None:
        raise MountError(f"There is no command {command.command!r}\nInstall it, or write its full path.")
    try:
        return subprocess.Popen(
            [program, *command.args],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=command.cwd,
            start_new_session=True,  # a process group, so that its children get the signals too
        )
    except (OSError, ValueError) as error:
        raise MountError(f"{command.command} cannot be started: {error}") from error


_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_INHERITED_ON_WINDOWS = (
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"),
)


def _inherited() -> dict[str, str]:
    """Return the part of our environment that every server gets; the rest may hold secrets."""
    names = _INHERITED_ON_WINDOWS if sys.platform == "win32" else _INHERITED
    return {name: os.environ[name] for name in names if name in os.environ}


def _end(process: subprocess.Popen[bytes], timeouts: ShutdownTimeouts) -> None:
    """Close stdin, wait, send SIGTERM, wait, send SIGKILL; processes that it started get the signals too."""
    _close(process.stdin)
    if not _ended(process, timeouts.by_itself):
        _signal(process, signal.SIGTERM)
        if not _ended(process, timeouts.asked):
            _signal(process, _KILL)
            process.wait()
    _signal(process, _KILL)
    _close(process.stdout)
    _close(process.stderr)


_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)


def _close(stream: object) -> None:
    with contextlib.suppress(OSError):
        stream.close()  # type: ignore[attr-defined]


def _fd(stream: object) -> int:
    number = stream.fileno()  # type: ignore[attr-defined]
    return int(number)


MAX_STDERR_LINE = 64 * 1024
DRAIN_SECONDS = 0.5
_log = logger("mcp.client")


@asynccontextmanager
async def stdio_server(
    command: Command, handlers: NotificationHandlers, mode: Mode, shutdown_timeouts: Callable[[], ShutdownTimeouts]
) -> AsyncIterator[Session]:
    """Run a server for as long as the block runs.

    Raises:
        MountError: it cannot be started.
        UpstreamError: it refuses both `initialize` and `server/discover`.
    """
    async with child(command, shutdown_timeouts) as pipes, anyio.create_task_group() as tasks:
        writer = Writer(pipes.stdin)
        session = Session(StdioWire(writer), handlers, tasks)
        errors = _StderrLines(handlers.stderr)
        tasks.start_soon(_write, writer, session)
        tasks.start_soon(PipeReader(pipes.stdout, StdoutReader(session).take).run)
        tasks.start_soon(PipeReader(pipes.stderr, errors.take).run)
        try:
            try:
                await handshake_first(session, mode)
            except UpstreamError as error:
                raise await _early_end(session, errors, error) from error
            if session.server_info.modern:
                tasks.start_soon(follow_changes, session)
            yield session
        finally:
            if session.lost.is_set():
                # The last lines on stderr usually say why the server exited.
                with anyio.move_on_after(DRAIN_SECONDS, shield=True):
                    await errors.ended.wait()
            session.end()
            tasks.cancel_scope.cancel()


async def _early_end(session: Session, errors: "_StderrLines", error: UpstreamError) -> UiMcpError:
    if not session.lost.is_set():
        return error
    with anyio.move_on_after(DRAIN_SECONDS):
        await errors.ended.wait()
    said = f"; it said: {errors.last}" if errors.last else ""
    return MountError(f"The server ended before it answered{said}")


async def _write(writer: Writer, session: Session) -> None:
    try:
        await writer.run()
    except OSError as broken:
        _log.info("A server's pipe broke: %s", broken)
        session.end()


class _StderrLines:
    """Splits a server's stderr into lines."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.ended = anyio.Event()
        self.last = ""
        self._report = report
        self._splitter = LineSplitter(MAX_STDERR_LINE)

    def take(self, chunk: bytes) -> None:
        """Handle a chunk; an empty one is the end."""
        for line in self._splitter.feed(chunk) if chunk else self._splitter.end():
            self.last = "…" if isinstance(line, OversizedLine) else line.decode("utf-8", "replace")
            self._report(self.last)
        if not chunk:
            self.ended.set()


SHOWN_GARBAGE = 200


class StdioWire:
    """Writes messages to a server's stdin."""

    closing_cancels = False

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def send(self, message: JsonObject) -> None:
        self._writer.write(messages.encode(message) + b"\n")

    def abandon(self, number: int) -> None:
        """Do nothing: responses share one pipe, and a late one is passed over."""

    async def flush(self) -> None:
        """Do nothing: a pipe keeps the order of what is written to it."""


class StdoutReader:
    """Splits a server's stdout into messages for its session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._report = session.handlers.stderr
        self._splitter = LineSplitter()

    def take(self, chunk: bytes) -> None:
        """Handle output of the server; empty bytes mean that it closed the pipe."""
        for line in self._splitter.feed(chunk) if chunk else self._splitter.end():
            if isinstance(line, OversizedLine):
                self._report("(a message that is too long was passed over)")
            else:
                self._take_line(line)
        if not chunk:
            self._session.end()

    def _take_line(self, line: bytes) -> None:
        try:
            self._session.receive(line)
        except ValueError:
            self._report(f"(not a message) {line[:SHOWN_GARBAGE].decode('utf-8', 'replace')}")
