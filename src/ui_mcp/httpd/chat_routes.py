"""The chat on our three kinds of listener: the UI port, the MCP port, and a face of its own."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ui_mcp.chat.chat import Chat
from ui_mcp.chat.desk import Open
from ui_mcp.chat.identity import Principal, principal
from ui_mcp.chat.tokens import Keys
from ui_mcp.errors import LifecycleError
from ui_mcp.host.host import Host
from ui_mcp.httpd.admission import bearer, principal_of
from ui_mcp.httpd.chat_bridge import ChatBridge, failed
from ui_mcp.httpd.chat_page import ChatPage
from ui_mcp.httpd.visitors import remembered_session, welcome
from ui_mcp.jsontypes import loads

CODE_PATH = "/chat/code"


def ui_chat_routes(host: Host, per_second: float) -> Sequence[Route]:
    """On the UI port whoever holds a session's cookie is the human."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if is_visitor(host, request) else None

    bridge = ChatBridge(host.chats.current, who, per_second)
    return [*bridge.routes(), *ChatPage(bridge.inbox, partial(welcome, host)).routes()]


def mcp_chat_routes(host: Host, per_second: float = 20.0) -> Sequence[Route]:
    """On the MCP port a bearer token says who it is."""

    async def who(request: Request) -> Principal | None:
        return await holder(host, bearer(request.scope))

    return ChatBridge(host.chats.current, who, per_second).routes()


def is_visitor(host: Host, connection: HTTPConnection) -> bool:
    """Say whether a browser holds the cookie of a session."""
    try:
        return remembered_session(connection, host.running().sessions) is not None
    except LifecycleError:
        return False


async def holder(host: Host, token: str | None) -> Principal | None:
    """Return whose token this is."""
    keys = Keys((await host.chats.current()).store)
    token_id = await keys.recognise(token or "")
    return await keys.holder(token_id) if token_id else None


def human_face_routes(opened: Open, per_second: float) -> Sequence[Route]:
    """On the human's own face: the bridge and the page."""
    bridge = _face_bridge(opened, per_second)
    code = Route(CODE_PATH, _exchange(opened), methods=["POST"])
    start = Route("/", lambda _: RedirectResponse("/chat"), methods=["GET"])
    return [start, code, *bridge.routes(), *ChatPage(bridge.inbox, lambda _, response: response).routes()]


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
