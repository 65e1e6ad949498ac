"""Starts, greets and ends a child-process server."""

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
    """How long a child may take to end by itself, and after being asked to."""

    by_itself: float = 2.0
    asked: float = 3.0


FAST_SHUTDOWN = ShutdownTimeouts(0.5, 0.5)


@dataclass(frozen=True, slots=True)
class Pipes:
    """Our ends of a child's standard streams."""

    stdin: int
    stdout: int
    stderr: int


@asynccontextmanager
async def child(command: Command, patience: Callable[[], ShutdownTimeouts]) -> AsyncIterator[Pipes]:
    """Run a command for the length of the block.

    Raises:
        MountError: it cannot be started.
    """
    process = await to_thread.run_sync(_start, command)
    group = process.pid
    WATCHDOG.watch(group)
    try:
        yield Pipes(_fd(process.stdin), _fd(process.stdout), _fd(process.stderr))
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_end, process, patience())
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
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise MountError(f"{command.command} cannot be started: {error}") from error


def _end(process: subprocess.Popen[bytes], patience: ShutdownTimeouts) -> None:
    """Close its input, wait, ask it to stop, wait, kill; whatever it started goes with it."""
    _close(process.stdin)
    if not _ended(process, patience.by_itself):
        _signal(process, signal.SIGTERM)
        if not _ended(process, patience.asked):
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
    command: Command, hooks: NotificationHandlers, mode: Mode, farewell: Callable[[], ShutdownTimeouts]
) -> AsyncIterator[Transport]:
    """Run a server for the length of the block.

    Raises:
        MountError: it cannot be started.
        UpstreamError: it refuses every greeting.
    """
    async with child(command, farewell) as pipes, anyio.create_task_group() as tasks:
        writer = Writer(pipes.stdin)
        channel = StdioTransport(writer, hooks, tasks)
        errors = _Lines(hooks.stderr)
        tasks.start_soon(_write, writer, channel)
        tasks.start_soon(PipeReader(pipes.stdout, channel.take).run)
        tasks.start_soon(PipeReader(pipes.stderr, errors.take).run)
        try:
            try:
                await _greet(channel, hooks, mode)
            except UpstreamError as error:
                raise await _early_end(channel, errors, error) from error
            if channel.greeting.modern:
                tasks.start_soon(_listen, channel)
            yield channel
        finally:
            if channel.lost.is_set():
                # What a server said last, before it went, is what its user must read.
                with anyio.move_on_after(DRAIN_SECONDS, shield=True):
                    await errors.ended.wait()
            channel.end()
            tasks.cancel_scope.cancel()


async def _early_end(channel: StdioTransport, errors: "_Lines", error: UpstreamError) -> UiMcpError:
    if not channel.lost.is_set():
        return error
    with anyio.move_on_after(DRAIN_SECONDS):
        await errors.ended.wait()
    said = f"; it said: {errors.last}" if errors.last else ""
    return MountError(f"The server ended before it answered{said}")


async def _write(writer: Writer, channel: StdioTransport) -> None:
    try:
        await writer.run()
    except OSError as broken:
        _log.info("A server's pipe broke: %s", broken)
        channel.end()


class _Lines:
    """Turns what a server says aside into lines."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.ended = anyio.Event()
        self.last = ""
        self._tell = tell
        self._framer = LineSplitter(MAX_STDERR_LINE)

    def take(self, chunk: bytes) -> None:
        """Take a piece; an empty one is the end."""
        for line in self._framer.feed(chunk) if chunk else self._framer.end():
            self.last = "…" if isinstance(line, OversizedLine) else line.decode("utf-8", "replace")
            self._tell(self.last)
        if not chunk:
            self.ended.set()


async def _greet(channel: StdioTransport, hooks: NotificationHandlers, mode: Mode) -> None:
    if mode == "modern":
        await _discover(channel, hooks)
        return
    params = {
        "protocolVersion": HANDSHAKE_PROTOCOL_VERSIONS[-1],
        "capabilities": hooks.capabilities,
        "clientInfo": CLIENT_INFO,
    }
    try:
        told = await channel.request("initialize", params)
    except UpstreamError as refused:
        if mode == "legacy" or channel.lost.is_set():
            raise
        try:
            await _discover(channel, hooks)
        except UpstreamError:
            raise refused from None
        return
    channel.greeting = _greeting(told, told.get("serverInfo"), modern=False)
    channel.notify("notifications/initialized")


async def _discover(channel: StdioTransport, hooks: NotificationHandlers) -> None:
    channel.envelope = {
        messages.VERSION_KEY: LATEST_MODERN_VERSION,
        _CLIENT_INFO_KEY: CLIENT_INFO,
        _CAPABILITIES_KEY: hooks.capabilities,
    }
    told = await channel.request("server/discover", {})
    channel.greeting = _greeting(told, (told.get(messages.META) or {}).get(types.SERVER_INFO_META_KEY), modern=True)


def _greeting(told: JsonObject, info: object, *, modern: bool) -> ServerInfo:
    name = info.get("name") if isinstance(info, dict) else None
    instructions, capabilities = told.get("instructions"), told.get("capabilities")
    return ServerInfo(
        modern=modern,
        name=name if isinstance(name, str) else "",
        instructions=instructions if isinstance(instructions, str) else None,
        capabilities=capabilities if isinstance(capabilities, dict) else {},
    )


async def _listen(channel: StdioTransport) -> None:
    """Keep a modern server's stream of changes open, and reopen it when other resources are wanted."""
    kinds = [kind for kind in ("tools", "prompts", "resources") if _announces(channel.greeting, kind)]
    while True:
        channel.wanted_changed = anyio.Event()
        if not (channel.wanted or kinds):
            await channel.wanted_changed.wait()
            continue
        wanted: JsonObject = {f"{kind}ListChanged": True for kind in kinds}
        if channel.wanted:
            wanted["resourceSubscriptions"] = list(channel.wanted)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_one_stream, channel, wanted)
            await channel.wanted_changed.wait()
            tasks.cancel_scope.cancel()


async def _one_stream(channel: StdioTransport, wanted: JsonObject) -> None:
    while not channel.lost.is_set():
        try:
            await channel.request("subscriptions/listen", {"notifications": wanted})
        except UpstreamError as error:
            _log.info("A subscription stream ended: %s", error.message)
        await anyio.sleep(RETRY_SECONDS)


def _announces(greeting: ServerInfo, kind: str) -> bool:
    offered = greeting.capabilities.get(kind)
    return isinstance(offered, dict) and bool(offered.get("listChanged"))
