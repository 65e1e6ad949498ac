"""Access control of the nlui chat.

Programs may begin conversations of their own; every other change is for the person. If a token is set, only requests
with the token and the person are admitted at all.
"""

from collections.abc import Awaitable, Callable, Sequence
from hmac import compare_digest

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.gateway.web.conversation_import import MAX_IMPORT
from ui_mcp.webserver.auth import bearer
from ui_mcp.webserver.person_app import MAX_UPLOAD
from ui_mcp.webserver.person_auth import (
    CREDENTIAL_HEADER,
    DRIVEN_BROWSER,
    ENTER,
    OTHER_ORIGIN,
    READING,
    Access,
    Refused,
    careful,
    driven,
    mark_person,
    own_or_unsaid,
    refusal,
)
from ui_mcp.webserver.security import MCP_SESSION

FILE_SIZES = {"/api/attachments": MAX_UPLOAD, "/api/conversations/import": MAX_IMPORT}
"""Paths that take larger files, with the most bytes of one."""
UPLOADS = frozenset({"/api/specs/upload", *FILE_SIZES})
"""Paths whose requests carry files instead of JSON."""
FOR_PROGRAMS = frozenset({"/api/chat", "/api/chat/stop", "/mcp", "/sse", "/message", "/messages"})
"""Paths on which programs may make changes: MCP, and conversations that a program began itself."""
SETTINGS = (
    "/api/config/",
    "/api/targets",
    "/api/servers",
    "/api/specs/",
    "/api/presets",
    "/api/attachments",
    "/api/prompts",
)
"""Paths that pages of other origins may not even read, regardless of `server.cors`."""
_FILES = ("/nlui/", "/person/assets/", "/look/")
_HEADERS = (
    "authorization",
    "x-target-authorization",
    "content-type",
    "last-event-id",
    "mcp-protocol-version",
    MCP_SESSION,
)
TOKEN_NEEDED = Refused(401, "unauthorized", "A token is needed, or the code that the terminal of nlui shows")


class NluiAccess:
    """Middleware that tells the person from programs and refuses what is for the person only."""

    def __init__(self, app: ASGIApp, access: Access, token: str | None = None) -> None:
        self.app = app
        self._access = access
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        found = self._refusal(HTTPConnection(scope))
        if found is None:
            await self.app(scope, receive, careful(send))
            return
        if scope["type"] == "websocket":
            await receive()  # ASGI: the connect event has to be received before a response
        await found.response()(scope, receive, careful(send))

    def _refusal(self, connection: HTTPConnection) -> Refused | None:
        scope = connection.scope
        if driven(connection):
            return DRIVEN_BROWSER
        if scope["type"] == "websocket":
            return None  # its first frame carries the credential or the token
        if not self._admitted(connection):
            return TOKEN_NEEDED
        if scope["path"].startswith(SETTINGS) and not own_or_unsaid(connection):
            return OTHER_ORIGIN
        if CREDENTIAL_HEADER not in connection.headers and (
            scope["method"] in READING or scope["path"] in FOR_PROGRAMS
        ):
            return None
        entering = (scope["method"], scope["path"]) == ("POST", ENTER)
        found = refusal(connection, self._access, entering=entering, upload=scope["path"] in UPLOADS)
        if found is None and not entering:
            mark_person(scope)
        return found

    def _admitted(self, connection: HTTPConnection) -> bool:
        path = connection.scope["path"]
        if self._token is None or path in {"/", ENTER} or path.startswith(_FILES):
            return True
        return _is_authorized(self._access, self._token, connection, None)


def may_watch(access: Access, token: str | None) -> Callable[[HTTPConnection, str | None], Awaitable[bool]]:
    """Return a check for readers: if a token is set, they need it or the person's credential.

    A WebSocket sends either in its first frame, which is the second argument of the check.
    """

    async def may(connection: HTTPConnection, credential: str | None) -> bool:
        return token is None or _is_authorized(access, token, connection, credential)

    return may


def _is_authorized(access: Access, token: str, connection: HTTPConnection, credential: str | None) -> bool:
    given = bearer(connection.scope) or credential
    if given is not None and compare_digest(given.encode(), token.encode()):
        return True
    return access.recognises(connection.headers.get(CREDENTIAL_HEADER) or credential)


def with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Let front ends of other origins use the API with the rights of programs."""
    methods, headers = ("GET", "POST", "PUT", "DELETE"), _HEADERS
    return CORSMiddleware(
        app, allow_origins=origins, allow_methods=methods, allow_headers=headers, expose_headers=(MCP_SESSION,)
    )
