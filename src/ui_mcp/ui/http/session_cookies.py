"""Which session a browser request belongs to: the visitor's cookie, and the one-time codes by which it comes to one."""

import re
from contextlib import suppress
from urllib.parse import quote, urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.errors import LifecycleError, NotFoundError
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.auth import OneTimeTokens
from ui_mcp.webserver.responses import session_link_required

SECRET = re.compile(r"[0-9a-f]{32}")
CODE = "code"


def named_session(given: str, connection: HTTPConnection, sessions: SessionRegistry) -> Session | None:
    """Return the session that a URL names by id or number, if this visitor has been let in to it."""
    try:
        session = sessions.get(given)
    except NotFoundError:
        return None
    return session if sessions.visitors.may_open(_visitor(connection), session) else None


def session_from_cookie(connection: HTTPConnection, sessions: SessionRegistry) -> Session | None:
    """Return the session that the visitor opened last."""
    for secret in sessions.visitors.latest(_visitor(connection)):
        with suppress(NotFoundError):
            return sessions.get(secret)
    return None


def set_cookie(response: Response, connection: HTTPConnection, sessions: SessionRegistry, session: Session) -> Response:
    """Let the visitor into `session`; the port is part of the name because cookies are shared by a host's ports."""
    visitor = sessions.visitors.admit(_visitor(connection), session)
    response.set_cookie(cookie_name(connection), visitor, path="/", samesite="lax", httponly=True)
    return response


def set_session_cookie(host: UiServer, request: Request, response: Response) -> Response:
    """Make the visitor of a page on the UI port known, as its start page does."""
    running = host.running()
    known = session_from_cookie(request, running.sessions)
    if running.config.server.require_token and not known:
        return session_link_required(request)
    return set_cookie(response, request, running.sessions, known or running.sessions.get("1"))


def is_start(given: str, host: UiServer) -> bool:
    """Say whether an address below `/1/` is the same as one below `/`: where all visitors share that session."""
    return given == "1" and host.running().config.session.root == "shared"


class CodeEntry:
    """Lets a browser in that brings a one-time code, and sends it on to the same address without the code."""

    def __init__(self, app: ASGIApp, host: UiServer, codes: OneTimeTokens) -> None:
        self._app = app
        self._host = host
        self._codes = codes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look for a code, or pass on."""
        if scope["type"] == "http" and scope["method"] == "GET" and b"code=" in scope["query_string"]:
            request = Request(scope)
            # An app's own parameter of this name is left alone unless it looks exactly like a code of ours.
            if SECRET.fullmatch(request.query_params.get(CODE, "")):
                await self._entered(request)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _entered(self, request: Request) -> Response:
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != CODE]
        # Not more than one slash in front: two would lead to another host.
        path = f"/{quote(request.scope['path']).lstrip('/')}"
        response = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303, {"Cache-Control": "no-store"})
        secret = self._codes.spend(request.query_params[CODE])
        with suppress(LifecycleError, NotFoundError):
            if secret:
                sessions = self._host.running().sessions
                return set_cookie(response, request, sessions, sessions.get(secret))
        return response


def cookie_name(connection: HTTPConnection) -> str:
    """Name our cookie after the port that is being talked to."""
    server = connection.scope.get("server") or ("", 0)
    return f"ui-visitor-{server[1]}"


def _visitor(connection: HTTPConnection) -> str | None:
    return connection.cookies.get(cookie_name(connection))
