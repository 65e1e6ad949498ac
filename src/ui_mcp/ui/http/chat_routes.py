"""Chat routes of the UI port, the MCP port and the person's listener; imported on the first request."""

from collections.abc import Sequence

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from ui_mcp.chat.attachments import AttachmentStore
from ui_mcp.chat.composer_http import AttachmentApi, PromptApi
from ui_mcp.chat.http import PROMPTS, ChatBridge, failed
from ui_mcp.chat.identity import POST_USER, AccessTokens, Principal, principal
from ui_mcp.chat.prompts import PromptLibrary
from ui_mcp.errors import LifecycleError
from ui_mcp.ui.http.session_cookies import session_from_cookie
from ui_mcp.ui.server import UiServer
from ui_mcp.webserver.auth import bearer
from ui_mcp.webserver.person_app import ATTACHMENTS
from ui_mcp.webserver.person_auth import is_person
from ui_mcp.webserver.responses import answering


def has_session_cookie(host: UiServer, connection: HTTPConnection) -> bool:
    """Return whether a browser has the cookie of a session."""
    try:
        return session_from_cookie(connection, host.running().sessions) is not None
    except LifecycleError:
        return False


async def principal_of_token(host: UiServer, token: str | None) -> Principal | None:
    """Return the principal of a chat token, or None if it is invalid."""
    # Asked for each request, because a reconfiguration replaces the chat and its store.
    keys = AccessTokens((await host.chats.current()).store)
    token_id = await keys.verify(token or "")
    return await keys.holder(token_id) if token_id else None


def ui_chat_routes(host: UiServer, per_second: float) -> Sequence[Route]:
    """Return the chat routes of the UI port; app code runs there, so a session's cookie only allows reading."""

    async def caller(request: Request) -> Principal | None:
        return principal("human", "human") if has_session_cookie(host, request) else None

    bridge = ChatBridge(host.chats.current, caller, per_second)
    files = AttachmentApi(files_of(host))

    async def download(request: Request) -> Response:
        if await caller(request) is None:
            return failed(401, "unauthorized", "Open the page of this server")
        return await files.download(request)

    return [
        *bridge.reading_routes(),
        Route(f"{ATTACHMENTS}/{{digest}}", answering(download), methods=["GET"]),
        Route("/chat", bridge.inbox, methods=["GET"]),
    ]


def mcp_chat_routes(host: UiServer, per_second: float = 20.0) -> Sequence[Route]:
    """Return the chat routes of the MCP port; bearer tokens authenticate there, and none may post as the human."""

    async def caller(request: Request) -> Principal | None:
        found = await principal_of_token(host, bearer(request.scope))
        return Principal(found.name, found.scopes - {POST_USER}) if found else None

    return ChatBridge(host.chats.current, caller, per_second).routes()


def person_chat_routes(host: UiServer, per_second: float) -> Sequence[Route]:
    """Return the chat routes of the person's listener, where the person reads and writes."""

    async def caller(request: Request) -> Principal | None:
        return principal("human", "human") if is_person(request) else None

    bridge = ChatBridge(host.chats.current, caller, per_second, files=files_of(host))
    prompts = PromptLibrary(host.configured().workspace.prompts)
    # The listener lets only the person reach these.
    return [
        *bridge.routes(),
        *AttachmentApi(files_of(host)).routes(ATTACHMENTS),
        *PromptApi(prompts).routes(PROMPTS),
        Route("/chat", bridge.inbox, methods=["GET"]),
    ]


def files_of(host: UiServer) -> AttachmentStore:
    """Return the files that people attached in this project."""
    return AttachmentStore(host.configured().workspace.attachments)
