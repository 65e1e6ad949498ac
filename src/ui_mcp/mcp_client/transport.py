"""Where a foreign MCP server is found, and the SDK transport that reaches one behind a URL."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from ui_mcp.http_client import open_client
from ui_mcp.mcpd.carried_lists import carried

CONNECT_SECONDS = 30.0
READ_SECONDS = 300.0


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


@asynccontextmanager
async def streams(address: HttpUrl | SseUrl, lost: anyio.Event) -> AsyncIterator[tuple[Any, Any]]:
    """Open the message streams; `lost` is set when the server's end closes."""
    async with AsyncExitStack() as stack:
        match address:
            case HttpUrl(url, headers):
                client = _client(url, headers, timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS))
                source = streamable_http_client(url, http_client=await stack.enter_async_context(client))
            case SseUrl(url, headers):
                source = sse_client(
                    url,
                    timeout=CONNECT_SECONDS,
                    sse_read_timeout=READ_SECONDS,
                    httpx_client_factory=partial(_client, url, headers),
                )
        incoming, outgoing = await stack.enter_async_context(source)
        yield _Noticing(incoming, lost), outgoing


def _client(
    url: str,
    secret: Mapping[str, str],
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """Return a client that sends the configured headers to the server's own origin alone."""
    return open_client(
        events=True,
        bound=secret,
        origin=url,
        trust_env=True,
        follow_redirects=True,
        headers=headers,
        timeout=timeout,
        auth=auth,
    )


class _Noticing:
    """A read stream that notices its end and carries lists past the SDK; everything else is the stream's own."""

    def __init__(self, stream: Any, lost: anyio.Event) -> None:
        self._stream = stream
        self._lost = lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return carried(await self._stream.__anext__())
        except (StopAsyncIteration, anyio.ClosedResourceError):
            self._lost.set()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> Any:
        return await self._stream.__aexit__(*problem)
