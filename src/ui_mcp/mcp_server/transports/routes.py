"""All MCP paths of one HTTP listener."""

from collections.abc import Awaitable, Callable

from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports import http
from ui_mcp.mcp_server.transports.sse import POST_PATHS, SseEndpoint
from ui_mcp.mcp_server.transports.streamable_http import StreamableEndpoint

STREAMABLE_PATH = "/mcp"
SSE_PATH = "/sse"
App = Callable[[http.Scope, http.Receive, http.Send], Awaitable[None]]


async def not_found(scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
    await http.respond(send, 404, b"Not found", ((b"content-type", b"text/plain; charset=utf-8"),))


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
        self._service = McpServer(definition)
        self._streamable = StreamableEndpoint(self._service, principal=principal)
        sse = SseEndpoint(self._service, post_path=post_path, principal=principal)
        self._fallback = fallback
        self._routes: dict[str, App] = {SSE_PATH: sse.stream, **dict.fromkeys(POST_PATHS, sse.message)}
        if streamable:
            self._routes[STREAMABLE_PATH] = self._streamable

    async def __call__(self, scope: http.Scope, receive: http.Receive, send: http.Send) -> None:
        await self._routes.get(scope["path"], self._fallback)(scope, receive, send)

    def close(self) -> None:
        """End all sessions and streams."""
        self._service.close()
        self._streamable.close()
