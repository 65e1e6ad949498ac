"""Who may use the human face of the chat: holders of a token, and the person on its page."""

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.chat.directory import LOCAL
from ui_mcp.webserver.auth import PRINCIPAL, Admission, Admit
from ui_mcp.webserver.person_auth import (
    CREDENTIAL_HEADER,
    DRIVEN_BROWSER,
    ENTER,
    READING,
    Access,
    careful,
    driven,
    mark_person,
    refusal,
)

CODE_PATH = "/chat/code"


class HumanFaceAccess:
    """Takes the person's credential, under the rules of a person's origin, in place of a bearer token."""

    def __init__(self, app: ASGIApp, admit: Admit, access: Access) -> None:
        self.app = app
        self._access = access
        self._by_token = Admission(app, admit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] != "http":
            await self._by_token(scope, receive, send)
            return
        connection, send = HTTPConnection(scope), careful(send)
        entering = (scope["method"], scope["path"]) == ("POST", ENTER)
        if driven(connection):
            await DRIVEN_BROWSER.response()(scope, receive, send)
        elif _free(scope):
            await self.app(scope, receive, send)
        elif not entering and CREDENTIAL_HEADER not in connection.headers:
            await self._by_token(scope, receive, send)
        elif found := refusal(connection, self._access, entering=entering):
            await found.response()(scope, receive, send)
        else:
            if not entering:
                mark_person(scope)
                scope[PRINCIPAL] = LOCAL
            await self.app(scope, receive, send)


def _free(scope: Scope) -> bool:
    """Say whether this is the page or one of its files, which hold nothing secret, or the exchange of a link's code."""
    path = scope["path"]
    if path == CODE_PATH:
        return True
    is_file = path.startswith("/look/") or (path.startswith("/chat/") and "." in path)
    html = "text/html" in HTTPConnection(scope).headers.get("accept", "")
    return scope["method"] in READING and (path == "/" or is_file or (path == "/chat" and html))
