"""`GET /wait`: hold the request until the app has something to say to the agent."""

from collections.abc import Callable, Sequence

from anyio import CancelScope, create_task_group
from anyio.lowlevel import checkpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ui_mcp.chat.http import ChatBridge
from ui_mcp.chat.identity import POST_USER, Principal, principal
from ui_mcp.errors import LifecycleError, NotFoundError, SessionGoneError
from ui_mcp.ui.http.session_cookies import holder, is_visitor
from ui_mcp.ui.server import Host
from ui_mcp.ui.sessions.events import EventQueue, as_array, clamp_wait
from ui_mcp.webserver.auth import bearer

NO_SESSION = "No active session"


class Wait:
    """Answers with all queued events, 204 after the timeout, or 404 without a session; mount it for GET.

    Events that could not be written return to the queue, so the answer is sent in chunks: only the last, empty
    one completes it for the client, and it is sent when the connection has outlived the events themselves.
    """

    def __init__(self, queue: Callable[[str], EventQueue]) -> None:
        self._queue = queue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        query = Request(scope).query_params
        try:
            queue = self._queue(query.get("sessionId", "1"))
        except (LifecycleError, NotFoundError):
            await _no_session()(scope, receive, send)
            return
        response = await _answer(queue, clamp_wait(query.get("timeout")), receive, send)
        if response is not None:
            await response(scope, receive, send)


async def _answer(queue: EventQueue, seconds: float, receive: Receive, send: Send) -> Response | None:
    """Write the events, or return what to answer instead; None also when nobody is there to answer."""
    response: Response | None = None
    written = False
    with CancelScope() as here:
        async with create_task_group() as tasks:
            tasks.start_soon(_watch, receive, here)
            try:
                async with queue.taken(seconds) as events:
                    if events:
                        await _write(as_array(events).encode(), send)
                        written = True
                    else:
                        response = Response(status_code=204)
            except SessionGoneError:
                response = _no_session()
            tasks.cancel_scope.cancel()
    if written:
        await send({"type": "http.response.body", "body": b""})
    return response


def _no_session() -> Response:
    return PlainTextResponse(NO_SESSION, 404)


async def _watch(receive: Receive, here: CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    here.cancel()


async def _write(body: bytes, send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    for _ in range(3):  # the loop hears of a broken connection a turn or two after the write
        await checkpoint()


def ui_chat_routes(host: Host, per_second: float) -> Sequence[Route]:
    """On the UI port, where app code runs, the holder of a session's cookie may read what the human may."""

    async def who(request: Request) -> Principal | None:
        return principal("human", "human") if is_visitor(host, request) else None

    bridge = ChatBridge(host.chats.current, who, per_second)
    return [*bridge.reading_routes(), Route("/chat", bridge.inbox, methods=["GET"])]


def mcp_chat_routes(host: Host, per_second: float = 20.0) -> Sequence[Route]:
    """On the MCP port a bearer token says who it is; none of them speaks for the human there."""

    async def who(request: Request) -> Principal | None:
        found = await holder(host, bearer(request.scope))
        return Principal(found.name, found.scopes - {POST_USER}) if found else None

    return ChatBridge(host.chats.current, who, per_second).routes()
