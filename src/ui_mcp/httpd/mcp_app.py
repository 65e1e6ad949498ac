"""The MCP port: what agents and scripts ask for over HTTP, and the MCP transports of `serve`."""

from collections.abc import Awaitable, Callable, Sequence

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.errors import LifecycleError, NotFoundError

TRANSPORT_PATHS = ("/sse", "/message", "/messages", "/mcp")


async def _no_session(request: Request, error: Exception) -> Response:
    return PlainTextResponse("No active session\n", 404)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", error.status_code, error.headers)


def mcp_app(routes: Sequence[BaseRoute], transports: ASGIApp | None = None) -> Starlette:
    """Assemble the MCP port; without `transports` their paths are unknown."""
    mounted = [Mount("", app=transports)] if transports else []
    return Starlette(
        routes=[*routes, *mounted],
        exception_handlers={
            HTTPException: _http_error,
            LifecycleError: _no_session,
            NotFoundError: _no_session,
        },
    )


class Later:
    """An application that is built in the background; the first request waits for it."""

    def __init__(self, build: Callable[[], Awaitable[ASGIApp]]) -> None:
        self._build = build
        self._ready = anyio.Event()
        self._app: ASGIApp

    async def prepare(self) -> None:
        """Build the application."""
        self._app = await self._build()
        self._ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on as soon as it is there."""
        await self._ready.wait()
        await self._app(scope, receive, send)
