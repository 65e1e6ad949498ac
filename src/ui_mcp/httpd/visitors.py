"""Which session a browser request belongs to, and the cookie that remembers it."""

import re

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from ui_mcp.errors import NotFoundError
from ui_mcp.host.host import Host
from ui_mcp.httpd.error_page import own_link_needed
from ui_mcp.ids import same_secret
from ui_mcp.session.session import Session
from ui_mcp.session.sessions import Sessions

SECRET = re.compile(r"[0-9a-f]{32}")


def named_session(given: str, connection: HTTPConnection, sessions: Sessions) -> Session | None:
    """Return the session a URL names: by its secret id, or by its number if the visitor also knows the secret."""
    try:
        session = sessions.get(given)
    except NotFoundError:
        return None
    if SECRET.fullmatch(given) or _knows_secret(connection, session):
        return session
    return None


def remembered_session(connection: HTTPConnection, sessions: Sessions) -> Session | None:
    """Return the session of the visitor's cookie."""
    secret = connection.cookies.get(cookie_name(connection))
    try:
        return sessions.get(secret) if secret and SECRET.fullmatch(secret) else None
    except NotFoundError:
        return None


def remember(response: Response, connection: HTTPConnection, session: Session) -> Response:
    """Bind the visitor to `session`; the port is part of the name because cookies are shared by a host's ports."""
    response.set_cookie(cookie_name(connection), session.secret, path="/", samesite="lax", httponly=True)
    return response


def welcome(host: Host, request: Request, response: Response) -> Response:
    """Make the visitor of a page on the UI port known, as its start page does."""
    running = host.running()
    known = remembered_session(request, running.sessions)
    if running.config.server.require_token and not known:
        return own_link_needed(request)
    return remember(response, request, known or running.sessions.get("1"))


def cookie_name(connection: HTTPConnection) -> str:
    """Name our cookie after the port that is being talked to."""
    server = connection.scope.get("server") or ("", 0)
    return f"ui-session-{server[1]}"


def _knows_secret(connection: HTTPConnection, session: Session) -> bool:
    scheme, _, bearer = connection.headers.get("authorization", "").partition(" ")
    offered = (
        connection.cookies.get(cookie_name(connection), ""),
        connection.query_params.get("token", ""),
        bearer if scheme.lower() == "bearer" else "",
    )
    return any(same_secret(secret, session.secret) for secret in offered)
