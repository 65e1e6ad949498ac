"""The chat on our kinds of listener: the UI port, the MCP port, the person's own, and a face of its own."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.chat.desk import Open
from ui_mcp.chat.http import ChatBridge, failed
from ui_mcp.chat.identity import Principal, principal
from ui_mcp.chat.service import Chat
from ui_mcp.chat.tokens import Keys
from ui_mcp.httpd.chat_page import chat_page_routes
from ui_mcp.httpd.face_access import CODE_PATH
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.ui.server import Host
from ui_mcp.version import bundled_version
from ui_mcp.webserver.auth import principal_of
from ui_mcp.webserver.person_app import entry_routes
from ui_mcp.webserver.person_auth import Access, is_person


def person_chat_routes(host: Host, per_second: float) -> Sequence[Route]:
    """On the person's listener the person reads and writes."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if is_person(request) else None

    bridge = ChatBridge(host.chats.current, who, per_second)
    return [*bridge.routes(), Route("/chat", bridge.inbox, methods=["GET"])]


def human_face_routes(opened: Open, per_second: float, access: Access) -> Sequence[BaseRoute]:
    """On the human's own face: the bridge, the page, and the ways in."""
    bridge = _face_bridge(opened, per_second)

    async def describe(request: Request) -> JsonObject:
        return {"app_url": "", "version": bundled_version(), "base_dir": "", "pending": 0}

    return [
        Route("/", lambda _: RedirectResponse("/chat"), methods=["GET"]),
        Route(CODE_PATH, _exchange(opened), methods=["POST"]),
        *entry_routes(access, describe),
        *bridge.routes(),
        *chat_page_routes(bridge.inbox, access.nonces),
    ]


def assistant_face_routes(opened: Open, per_second: float) -> Sequence[Route]:
    """On the assistant's own face: the bridge alone, since the page speaks for the human."""
    return _face_bridge(opened, per_second).routes()


def _exchange(opened: Open) -> Callable[[Request], Awaitable[Response]]:
    keys = Keys(opened.chat.store)

    async def exchange(request: Request) -> Response:
        try:
            code = loads(await request.body())["code"]
            token = await keys.exchange(code)
        except (ValueError, KeyError, TypeError, AttributeError):
            return failed(400, "invalid_argument", "Send {code} as JSON")
        if token is None:
            return failed(401, "unauthorized", "This link was used before or is too old; ask for another")
        return JSONResponse({"token": token}, headers={"Cache-Control": "no-store"})

    return exchange


def _face_bridge(opened: Open, per_second: float) -> ChatBridge:
    async def who(request: Request) -> Principal | None:
        return await opened.directory.of(principal_of(request.scope))

    async def chat() -> Chat:
        return opened.chat

    return ChatBridge(chat, who, per_second)
