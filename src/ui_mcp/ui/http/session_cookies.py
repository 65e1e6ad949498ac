"""Finds the session of a browser request: by the visitor's cookie, or by a one-time code that admits to one."""

import re
from contextlib import suppress
from urllib.parse import quote, urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from ui_mcp.errors import LifecycleError, NotFoundError, UiMcpError
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.auth import OneTimeTokens
from ui_mcp.webserver.responses import session_link_required

SECRET = re.compile(r"[0-9a-f]{32}")
CODE = "code"


def named_session(given: str, connection: HTTPConnection, sessions: SessionRegistry) -> Session | None:
    """Return the session that a URL names by id or number, if this visitor was admitted to it."""
    try:
        session = sessions.get(given)
    except NotFoundError:
        return None
    return session if sessions.visitors.may_open(visitor_of(connection, sessions), session.secret) else None


def session_from_cookie(connection: HTTPConnection, sessions: SessionRegistry) -> Session | None:
    """Return the session that the visitor opened last."""
    for secret in sessions.visitors.latest(visitor_of(connection, sessions)):
        with suppress(NotFoundError):
            return sessions.get(secret)
    return None


def set_cookie(response: Response, connection: HTTPConnection, sessions: SessionRegistry, session: Session) -> Response:
    """Admit the visitor to `session` and set the cookie."""
    visitor = sessions.visitors.admit(visitor_of(connection, sessions), session.secret)
    # The cookie's name contains the port, because browsers share cookies between the ports of a host.
    response.set_cookie(
        sessions.visitors.cookie or cookie_name(connection), visitor, path="/", samesite="lax", httponly=True
    )
    return response


def set_session_cookie(host: UiServer, request: Request, response: Response) -> Response:
    """Admit the visitor of a page on the UI port, as the start page does."""
    running = host.running()
    known = session_from_cookie(request, running.sessions)
    if running.config.server.require_token and not known:
        return session_link_required(request)
    return set_cookie(response, request, running.sessions, known or running.sessions.get("1"))


def refuse_uninvited(host: UiServer, request: Request) -> Response | None:
    """Return the response to a browser that was not admitted where pages require a link; None for all others."""
    running = host.running()
    if running.config.server.require_token and not session_from_cookie(request, running.sessions):
        return session_link_required(request)
    return None


def is_start(given: str, host: UiServer) -> bool:
    """Return whether paths below `/1/` mean the same as below `/`, because all visitors share that session."""
    return given == "1" and host.running().config.session.root == "shared"


class CodeEntry:
    """Middleware: exchanges a one-time code for a cookie and redirects to the same address without the code."""

    def __init__(self, app: ASGIApp, host: UiServer, codes: OneTimeTokens) -> None:
        self._app = app
        self._host = host
        self._codes = codes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and b"code=" in scope["query_string"]:
            request = Request(scope)
            # An app may use a parameter of this name, unless its value has the exact form of a code.
            if SECRET.fullmatch(request.query_params.get(CODE, "")):
                await self._redirect(request)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _redirect(self, request: Request) -> Response:
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != CODE]
        # Exactly one leading slash: two would make it the address of another host.
        path = f"/{quote(request.scope['path']).lstrip('/')}"
        response = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303, {"Cache-Control": "no-store"})
        secret = self._codes.spend(request.query_params[CODE])
        with suppress(LifecycleError, NotFoundError):
            if secret:
                sessions = self._host.running().sessions
                return set_cookie(response, request, sessions, sessions.get(secret))
        return response


def cookie_name(connection: HTTPConnection) -> str:
    """Return the cookie's name, which contains the port of this listener."""
    server = connection.scope.get("server") or ("", 0)
    return f"ui-visitor-{server[1]}"


def visitor_of(connection: HTTPConnection, sessions: SessionRegistry) -> str | None:
    """Return the value of the visitor's cookie."""
    return connection.cookies.get(sessions.visitors.cookie or cookie_name(connection))


ADDRESS = re.compile(r"/(?:ws/)?([0-9a-f]{32})(?:/|$)")
"""Paths that name a session by its secret id."""


class GroupEntry:
    """Middleware: continues sessions of other servers of a group when their visitors come here."""

    def __init__(self, app: ASGIApp, host: UiServer) -> None:
        self._app = app
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        sessions = self._host.running().sessions
        visitor = visitor_of(connection, sessions)
        response = await self._answer(connection, sessions, visitor) if visitor else None
        if response is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(response)
        else:
            await response(scope, receive, send)

    async def _answer(self, connection: HTTPConnection, sessions: SessionRegistry, visitor: str) -> Response | None:
        """Return the response to send instead of the application's, None if it has the session."""
        path: str = connection.scope["path"]
        named = ADDRESS.match(path)
        try:
            if named is not None:
                await sessions.take_over(named[1], visitor)
            elif path == "/" and session_from_cookie(connection, sessions) is None:
                found = await sessions.latest_elsewhere(visitor)
                # The load balancer knows by the id which server has it.
                return RedirectResponse(f"/{found}/", 307, {"Cache-Control": "no-store"}) if found else None
        except UiMcpError as error:
            # Not 404: the page would give up, and the session may be free in a moment.
            return PlainTextResponse(f"{error.message}\n", 503, {"Retry-After": "2", "Cache-Control": "no-store"})
        return None
