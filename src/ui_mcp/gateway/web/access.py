"""Who may do what at the nlui chat.

Programs begin conversations of their own; everything else that changes something is for the person. Where a token is
set, only its holders and the person get in at all.
"""

from collections.abc import Awaitable, Callable, Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.ids import same_secret
from ui_mcp.webserver.auth import bearer
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

UPLOAD = "/api/specs/upload"
FOR_PROGRAMS = frozenset({"/api/chat", "/api/chat/stop", "/mcp", "/sse", "/message", "/messages"})
"""What may change something without the person: MCP, and conversations that a program began itself."""
SETTINGS = ("/api/config/", "/api/targets", "/api/specs/", "/api/presets")
"""What pages of other origins do not even read, whatever `server.cors` lists."""
_FILES = ("/nlui/", "/person/assets/", "/look/")
_HEADERS = ("authorization", "x-target-authorization", "content-type", "last-event-id")
TOKEN_NEEDED = Refused(401, "unauthorized", "A token is needed, or the code that the terminal of nlui shows")


class NluiAccess:
    """Tells the person from programs and refuses what is for the person only."""

    def __init__(self, app: ASGIApp, access: Access, token: str | None = None) -> None:
        self.app = app
        self._access = access
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        found = self._refusal(HTTPConnection(scope))
        if found is None:
            await self.app(scope, receive, careful(send))
            return
        if scope["type"] == "websocket":
            await receive()
        await found.response()(scope, receive, careful(send))

    def _refusal(self, connection: HTTPConnection) -> Refused | None:
        scope = connection.scope
        if driven(connection):
            return DRIVEN_BROWSER
        if scope["type"] == "websocket":
            return None  # it brings the credential, or the token, in its first frame
        if not self._admitted(connection):
            return TOKEN_NEEDED
        if scope["path"].startswith(SETTINGS) and not own_or_unsaid(connection):
            return OTHER_ORIGIN
        if CREDENTIAL_HEADER not in connection.headers and (
            scope["method"] in READING or scope["path"] in FOR_PROGRAMS
        ):
            return None
        entering = (scope["method"], scope["path"]) == ("POST", ENTER)
        found = refusal(connection, self._access, entering=entering, upload=scope["path"] == UPLOAD)
        if found is None and not entering:
            mark_person(scope)
        return found

    def _admitted(self, connection: HTTPConnection) -> bool:
        path = connection.scope["path"]
        if self._token is None or path in {"/", ENTER} or path.startswith(_FILES):
            return True
        return _knows(self._access, self._token, connection, None)


def may_watch(access: Access, token: str | None) -> Callable[[HTTPConnection, str | None], Awaitable[bool]]:
    """Return who may read where a token is set: its holders, and the person; a socket says it in its first frame."""

    async def may(connection: HTTPConnection, said: str | None) -> bool:
        return token is None or _knows(access, token, connection, said)

    return may


def _knows(access: Access, token: str, connection: HTTPConnection, said: str | None) -> bool:
    given = bearer(connection.scope) or said
    if given is not None and same_secret(given, token):
        return True
    return access.recognises(connection.headers.get(CREDENTIAL_HEADER) or said)


def with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Let front ends of other origins use the API, with the rights of programs."""
    methods, headers = ("GET", "POST", "PUT", "DELETE"), _HEADERS
    return CORSMiddleware(app, allow_origins=origins, allow_methods=methods, allow_headers=headers)
