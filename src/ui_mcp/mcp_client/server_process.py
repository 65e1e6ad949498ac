"""Starts a server as a child process and greets it: the handshake first, the stateless era where that is refused."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import anyio
import mcp_types as types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from ui_mcp.errors import MountError, UiMcpError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsonrpc.pipes import Writer
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.stdio import LineChannel
from ui_mcp.mcp_client.transport import Command
from ui_mcp.mcpd.channel import CLIENT_INFO, Channel, Greeting, Hooks
from ui_mcp.mcpd.child import Farewell, child
from ui_mcp.mcpd.framing import Framer, TooLong
from ui_mcp.mcpd.intake import Intake

MAX_STDERR_LINE = 64 * 1024
RETRY_SECONDS = 5.0
DRAIN_SECONDS = 0.5
_CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_log = logger("mcp.client")

Mode = Literal["auto", "legacy", "modern"]


@asynccontextmanager
async def stdio_server(
    command: Command, hooks: Hooks, mode: Mode, farewell: Callable[[], Farewell]
) -> AsyncIterator[Channel]:
    """Run a server for the length of the block.

    Raises:
        MountError: it cannot be started.
        UpstreamError: it refuses every greeting.
    """
    async with child(command, farewell) as pipes, anyio.create_task_group() as tasks:
        writer = Writer(pipes.stdin)
        channel = LineChannel(writer, hooks, tasks)
        errors = _Lines(hooks.stderr)
        tasks.start_soon(_write, writer, channel)
        tasks.start_soon(Intake(pipes.stdout, channel.take).run)
        tasks.start_soon(Intake(pipes.stderr, errors.take).run)
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


async def _early_end(channel: LineChannel, errors: "_Lines", error: UpstreamError) -> UiMcpError:
    if not channel.lost.is_set():
        return error
    with anyio.move_on_after(DRAIN_SECONDS):
        await errors.ended.wait()
    said = f"; it said: {errors.last}" if errors.last else ""
    return MountError(f"The server ended before it answered{said}")


async def _write(writer: Writer, channel: LineChannel) -> None:
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
        self._framer = Framer(MAX_STDERR_LINE)

    def take(self, chunk: bytes) -> None:
        """Take a piece; an empty one is the end."""
        for line in self._framer.feed(chunk) if chunk else self._framer.end():
            self.last = "…" if isinstance(line, TooLong) else line.decode("utf-8", "replace")
            self._tell(self.last)
        if not chunk:
            self.ended.set()


async def _greet(channel: LineChannel, hooks: Hooks, mode: Mode) -> None:
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


async def _discover(channel: LineChannel, hooks: Hooks) -> None:
    channel.envelope = {
        messages.VERSION_KEY: LATEST_MODERN_VERSION,
        _CLIENT_INFO_KEY: CLIENT_INFO,
        _CAPABILITIES_KEY: hooks.capabilities,
    }
    told = await channel.request("server/discover", {})
    channel.greeting = _greeting(told, (told.get(messages.META) or {}).get(types.SERVER_INFO_META_KEY), modern=True)


def _greeting(told: JsonObject, info: object, *, modern: bool) -> Greeting:
    name = info.get("name") if isinstance(info, dict) else None
    instructions, capabilities = told.get("instructions"), told.get("capabilities")
    return Greeting(
        modern=modern,
        name=name if isinstance(name, str) else "",
        instructions=instructions if isinstance(instructions, str) else None,
        capabilities=capabilities if isinstance(capabilities, dict) else {},
    )


async def _listen(channel: LineChannel) -> None:
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


async def _one_stream(channel: LineChannel, wanted: JsonObject) -> None:
    while not channel.lost.is_set():
        try:
            await channel.request("subscriptions/listen", {"notifications": wanted})
        except UpstreamError as error:
            _log.info("A subscription stream ended: %s", error.message)
        await anyio.sleep(RETRY_SECONDS)


def _announces(greeting: Greeting, kind: str) -> bool:
    offered = greeting.capabilities.get(kind)
    return isinstance(offered, dict) and bool(offered.get("listChanged"))
