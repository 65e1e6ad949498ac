"""Who may use the nlui chat: everyone on this machine, or, where a token is set, who brings it or logged in with it."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.httpd.admission import bearer
from ui_mcp.httpd.approvals import Visitors
from ui_mcp.httpd.nlui_answers import answering, body_of
from ui_mcp.ids import same_secret

LOGIN = "/api/login"
_HEADERS = ("authorization", "x-target-authorization", "content-type", "last-event-id")


class Door:
    """Turns away who has neither the token nor the cookie that a login leaves; the page itself holds no secret."""

    def __init__(self, app: ASGIApp, token: str | None, visitors: Visitors) -> None:
        self._app = app
        self._token = token
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] in {"http", "websocket"} and not self._may(scope):
            answer = JSONResponse({"error": "A token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
            if scope["type"] == "websocket":
                await receive()
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _may(self, scope: Scope) -> bool:
        path = scope["path"]
        if self._token is None or path in {"/", LOGIN} or path.startswith(("/nlui/", "/look/")):
            return True
        given = bearer(scope)
        if given is not None:
            return same_secret(given, self._token)
        return self._visitors(HTTPConnection(scope)) is not None


def open_to(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Let front ends of other origins use the API, without cookies."""
    methods, headers = ("GET", "POST", "PUT", "DELETE"), _HEADERS
    return CORSMiddleware(app, allow_origins=origins, allow_methods=methods, allow_headers=headers)


def login_route(token: str | None, visitors: Visitors) -> BaseRoute:
    """Return where a person exchanges the token for a cookie."""

    async def login(request: Request) -> Response:
        given = (await body_of(request)).get("token")
        if token is None or not isinstance(given, str) or not same_secret(given, token):
            return JSONResponse({"error": "This is not the token"}, 401)
        return visitors.welcome(request, JSONResponse({"ok": True}))

    return Route(LOGIN, answering(login), methods=["POST"])
