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
from typing import Literal

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.client.stdio import get_default_environment
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from ui_mcp.errors import MountError, UiMcpError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsonrpc.pipes import LineSplitter, OversizedLine, PipeReader, Writer
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.stdio import StdioTransport
from ui_mcp.mcp_client.transport import CLIENT_INFO, Command, NotificationHandlers, ServerInfo, Transport
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
    environment = {**get_default_environment(), **command.env}
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
RETRY_SECONDS = 5.0
DRAIN_SECONDS = 0.5
_CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_log = logger("mcp.client")
Mode = Literal["auto", "legacy", "modern"]


@asynccontextmanager
async def stdio_server(
    command: Command, handlers: NotificationHandlers, mode: Mode, shutdown_timeouts: Callable[[], ShutdownTimeouts]
) -> AsyncIterator[Transport]:
    """Run a server for as long as the block runs.

    Raises:
        MountError: it cannot be started.
        UpstreamError: it refuses both `initialize` and `server/discover`.
    """
    async with child(command, shutdown_timeouts) as pipes, anyio.create_task_group() as tasks:
        writer = Writer(pipes.stdin)
        transport = StdioTransport(writer, handlers, tasks)
        errors = _StderrLines(handlers.stderr)
        tasks.start_soon(_write, writer, transport)
        tasks.start_soon(PipeReader(pipes.stdout, transport.take).run)
        tasks.start_soon(PipeReader(pipes.stderr, errors.take).run)
        try:
            try:
                await _initialize(transport, handlers, mode)
            except UpstreamError as error:
                raise await _early_end(transport, errors, error) from error
            if transport.server_info.modern:
                tasks.start_soon(_follow_changes, transport)
            yield transport
        finally:
            if transport.lost.is_set():
                # The last lines on stderr usually say why the server exited.
                with anyio.move_on_after(DRAIN_SECONDS, shield=True):
                    await errors.ended.wait()
            transport.end()
            tasks.cancel_scope.cancel()


async def _early_end(transport: StdioTransport, errors: "_StderrLines", error: UpstreamError) -> UiMcpError:
    if not transport.lost.is_set():
        return error
    with anyio.move_on_after(DRAIN_SECONDS):
        await errors.ended.wait()
    said = f"; it said: {errors.last}" if errors.last else ""
    return MountError(f"The server ended before it answered{said}")


async def _write(writer: Writer, transport: StdioTransport) -> None:
    try:
        await writer.run()
    except OSError as broken:
        _log.info("A server's pipe broke: %s", broken)
        transport.end()


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


async def _initialize(transport: StdioTransport, handlers: NotificationHandlers, mode: Mode) -> None:
    if mode == "modern":
        await _discover(transport, handlers)
        return
    params = {
        "protocolVersion": HANDSHAKE_PROTOCOL_VERSIONS[-1],
        "capabilities": handlers.capabilities,
        "clientInfo": CLIENT_INFO,
    }
    try:
        data = await transport.request("initialize", params)
    except UpstreamError as refused:
        if mode == "legacy" or transport.lost.is_set():
            raise
        try:
            await _discover(transport, handlers)
        except UpstreamError:
            raise refused from None
        return
    transport.server_info = _server_info(data, data.get("serverInfo"), modern=False)
    transport.notify("notifications/initialized")


async def _discover(transport: StdioTransport, handlers: NotificationHandlers) -> None:
    transport.envelope = {
        messages.VERSION_KEY: LATEST_MODERN_VERSION,
        _CLIENT_INFO_KEY: CLIENT_INFO,
        _CAPABILITIES_KEY: handlers.capabilities,
    }
    data = await transport.request("server/discover", {})
    transport.server_info = _server_info(
        data, (data.get(messages.META) or {}).get(types.SERVER_INFO_META_KEY), modern=True
    )


def _server_info(data: JsonObject, info: object, *, modern: bool) -> ServerInfo:
    name = info.get("name") if isinstance(info, dict) else None
    instructions, capabilities = data.get("instructions"), data.get("capabilities")
    return ServerInfo(
        modern=modern,
        name=name if isinstance(name, str) else "",
        instructions=instructions if isinstance(instructions, str) else None,
        capabilities=capabilities if isinstance(capabilities, dict) else {},
    )


async def _follow_changes(transport: StdioTransport) -> None:
    """Keep a modern server's subscription stream open, and reopen it when the subscriptions change."""
    kinds = [kind for kind in ("tools", "prompts", "resources") if _announces(transport.server_info, kind)]
    while True:
        transport.wanted_changed = anyio.Event()
        if not (transport.wanted or kinds):
            await transport.wanted_changed.wait()
            continue
        wanted: JsonObject = {f"{kind}ListChanged": True for kind in kinds}
        if transport.wanted:
            wanted["resourceSubscriptions"] = list(transport.wanted)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_keep_stream, transport, wanted)
            await transport.wanted_changed.wait()
            tasks.cancel_scope.cancel()


async def _keep_stream(transport: StdioTransport, wanted: JsonObject) -> None:
    while not transport.lost.is_set():
        try:
            await transport.request("subscriptions/listen", {"notifications": wanted})
        except UpstreamError as error:
            _log.info("A subscription stream ended: %s", error.message)
        await anyio.sleep(RETRY_SECONDS)


def _announces(server_info: ServerInfo, kind: str) -> bool:
    offered = server_info.capabilities.get(kind)
    return isinstance(offered, dict) and bool(offered.get("listChanged"))
