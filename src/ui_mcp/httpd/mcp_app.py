"""The MCP port: what agents and scripts ask for over HTTP, and the MCP transports of `serve`."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp

from ui_mcp.errors import LifecycleError, NotFoundError


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
