"""All MCP paths of one HTTP listener; the SDK is imported lazily, on the first request."""

from collections.abc import Awaitable, Callable
from importlib import import_module

import anyio
from anyio import to_thread

from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.transports import http

STREAMABLE_PATH = "/mcp"
SSE_PATH = "/sse"
POST_PATHS = ("/message", "/messages")
PATHS = frozenset({STREAMABLE_PATH, SSE_PATH, *POST_PATHS})
App = Callable[[http.Scope, http.Receive, http.Send], Awaitable[None]]


async def not_found(scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
    await http.respond_text(send, 404, "Not found")


class McpRoutes:
    """ASGI application for `/mcp`, `/sse`, `/message` and `/messages`; other paths go to `fallback`."""

    def __init__(
        self,
        definition: ServerDefinition,
        *,
        principal: Callable[[http.Scope], str] = lambda _: "local",
        post_path: str = POST_PATHS[0],
        streamable: bool = True,
        fallback: App = not_found,
    ) -> None:
        self._definition = definition
        self._principal = principal
        self._post_path = post_path
        self._paths = PATHS if streamable else PATHS - {STREAMABLE_PATH}
        self._fallback = fallback
        self._routes: dict[str, App] = {}
        self._closers: list[Callable[[], None]] = []
        self._loading = anyio.Lock()

    async def __call__(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        path = scope["path"]
        if path not in self._paths:
            await self._fallback(scope, receive, send)
            return
        if not self._routes:
            await self._load()
        await self._routes[path](scope, receive, send)

    def close(self) -> None:
        """End all sessions and streams."""
        for close in self._closers:
            close()

    async def _load(self) -> None:
        async with self._loading:
            if self._routes:
                return
            # Importing the SDK takes most of a second, which would block the event loop.
            await to_thread.run_sync(import_module, "ui_mcp.mcp_server.transports.streamable_http")
            from ui_mcp.mcp_server.server import McpServer
            from ui_mcp.mcp_server.transports.sse import SseEndpoint
            from ui_mcp.mcp_server.transports.streamable_http import StreamableEndpoint

            service = McpServer(self._definition)
            sse = SseEndpoint(service, post_path=self._post_path, principal=self._principal)
            streamable = StreamableEndpoint(service, principal=self._principal)
            self._closers = [service.close, streamable.close]
            self._routes = {
                STREAMABLE_PATH: streamable,
                SSE_PATH: sse.stream,
                **dict.fromkeys(POST_PATHS, sse.message),
            }
