"""Asks each request for its bearer token and writes on it who sends it."""

from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PRINCIPAL = "ui_mcp.principal"

Admit = Callable[[str | None], Awaitable[str | None]]
"""Returns the name for a bearer token (or for none), or None to turn the request away."""


class Admission:
    """Lets through requests whose token, or lack of one, `admit` accepts."""

    def __init__(self, app: ASGIApp, admit: Admit, *, free: Callable[[str], bool] = lambda _: False) -> None:
        self._app = app
        self._admit = admit
        self._free = free

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] == "http" and not self._free(scope["path"]):
            name = await self._admit(bearer(scope))
            if name is None:
                error = {"code": "unauthorized", "message": "A valid bearer token is needed", "details": {}}
                response = JSONResponse({"error": error}, 401, {"WWW-Authenticate": "Bearer"})
                await response(scope, receive, send)
                return
            scope[PRINCIPAL] = name
        await self._app(scope, receive, send)


def bearer(scope: Scope) -> str | None:
    """Return the bearer token of a request."""
    kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def principal_of(scope: Scope) -> str:
    """Return the name an `Admission` wrote on a request."""
    name: str = scope[PRINCIPAL]
    return name
