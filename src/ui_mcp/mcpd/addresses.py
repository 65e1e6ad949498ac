"""Where a foreign MCP server is found, and the SDK transport that reaches it."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import anyio
import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from ui_mcp.mcpd.framing import Framer, TooLong
from ui_mcp.mcpd.pipes import lines

CONNECT_SECONDS = 30.0
READ_SECONDS = 300.0
DRAIN_SECONDS = 0.5
MAX_STDERR_LINE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Command:
    """A server we start and talk to over its standard streams."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class HttpUrl:
    """A server behind streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SseUrl:
    """A server behind the older HTTP+SSE transport."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


Address = Command | HttpUrl | SseUrl
Lines = Callable[[str], None]


@asynccontextmanager
async def streams(address: Address, stderr: Lines, lost: anyio.Event) -> AsyncIterator[tuple[Any, Any]]:
    """Open the message streams; `lost` is set when the server's end closes, `stderr` gets what it says aside."""
    async with AsyncExitStack() as stack:
        match address:
            case Command():
                source = stdio_client(_parameters(address), errlog=await stack.enter_async_context(_told(stderr)))
            case HttpUrl(url, headers):
                timeout = httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS)
                client = httpx2.AsyncClient(headers=dict(headers), timeout=timeout, follow_redirects=True)
                source = streamable_http_client(url, http_client=await stack.enter_async_context(client))
            case SseUrl(url, headers):
                source = sse_client(url, headers=dict(headers), timeout=CONNECT_SECONDS, sse_read_timeout=READ_SECONDS)
        incoming, outgoing = await stack.enter_async_context(source)
        yield _Noticing(incoming, lost), outgoing


def _parameters(address: Command) -> StdioServerParameters:
    return StdioServerParameters(
        command=address.command, args=list(address.args), env=dict(address.env) or None, cwd=address.cwd
    )


@asynccontextmanager
async def _told(stderr: Lines) -> AsyncIterator[Any]:
    """Give a file for a child process to write to, and pass its lines on."""
    reading, writing = os.pipe()
    drained = anyio.Event()

    async def pump() -> None:
        async for batch in lines(reading, Framer(MAX_STDERR_LINE)):
            for line in batch:
                stderr("…" if isinstance(line, TooLong) else line.decode("utf-8", "replace"))
        drained.set()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump)
            with os.fdopen(writing, "w") as file:
                yield file
            # The pipe ends once the child and we have closed it; a grandchild may hold it for ever.
            with anyio.move_on_after(DRAIN_SECONDS):
                await drained.wait()
            tasks.cancel_scope.cancel()
    finally:
        os.close(reading)


class _Noticing:
    """A read stream that notices its end; everything else is the stream's own."""

    def __init__(self, stream: Any, lost: anyio.Event) -> None:
        self._stream = stream
        self._lost = lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except (StopAsyncIteration, anyio.ClosedResourceError):
            self._lost.set()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> Any:
        return await self._stream.__aexit__(*problem)
