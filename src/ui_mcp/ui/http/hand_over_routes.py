"""Routes of the person's listener by which they operate a browser that an agent has handed over."""

from contextlib import suppress

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_mcp.errors import InvalidArgumentsError, NotStartedError, UiMcpError
from ui_mcp.introspection.hand_over import HandOver, HandOvers
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.ui.server import UiServer
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.responses import answering, body_of, text_of
from ui_mcp.webserver.server import Routes

WAIT_SECONDS = 20.0
HELLO_SECONDS = 10.0
REFUSED = 4401
TAKEN = 4409
MAX_INPUT = 20_000
_OUTCOMES = {"return": "The person gave the browser back.", "decline": "The person does not take the browser now."}


def hand_over_routes(host: UiServer, access: Access) -> Routes:
    """Return the routes; none of them is on the app's origin, where an app could see and operate the browser."""

    def hand_overs() -> HandOvers:
        return host.targets.hand_overs

    async def shown(request: Request) -> Response:
        given = request.query_params.get("after", "-1")
        version = int(given) if given.isdecimal() and len(given) < 16 else -1
        if host.running().sessions.stopped:  # else a page that asks again would delay the end of the server
            raise NotStartedError
        return JSONResponse(await hand_overs().after(version, WAIT_SECONDS))

    async def ended(request: Request) -> Response:
        action = text_of(await body_of(request), "action")
        if action not in _OUTCOMES:
            raise InvalidArgumentsError("action must be return or decline")
        await hand_overs().end(_OUTCOMES[action])
        return JSONResponse({"ok": True})

    async def operate(socket: WebSocket) -> None:
        await socket.accept()
        if not access.recognises(await _credential(socket)):
            await socket.close(REFUSED, "Open your own page")
            return
        try:
            hand_over = hand_overs().take()
        except UiMcpError as error:
            await socket.close(TAKEN, error.message)
            return
        try:
            await _connect(socket, hand_over)
        finally:
            hand_overs().leave(hand_over)

    return [
        Route("/hand-over", answering(shown), methods=["GET"]),
        Route("/hand-over", answering(ended), methods=["POST"]),
        WebSocketRoute("/ws/hand-over", operate),
    ]


async def _credential(socket: WebSocket) -> str | None:
    """Return the credential in the first frame: browsers cannot send headers with a WebSocket."""
    with anyio.move_on_after(HELLO_SECONDS), suppress(ValueError, KeyError, WebSocketDisconnect):
        given: Json = loads(await socket.receive_text())
        token = given.get("token") if isinstance(given, dict) else None
        return token if isinstance(token, str) else None
    return None


async def _connect(socket: WebSocket, hand_over: HandOver) -> None:
    """Pass pictures out and input in until the page is closed or the browser is given back."""

    async def send(message: JsonObject) -> None:
        await socket.send_text(dumps(message))

    async def show(scope: anyio.CancelScope) -> None:
        with suppress(WebSocketDisconnect, RuntimeError, UiMcpError):
            await hand_over.browser.show(send)
        scope.cancel()

    async def receive(scope: anyio.CancelScope) -> None:
        with suppress(WebSocketDisconnect, RuntimeError, KeyError):
            while True:
                await _input(hand_over, await socket.receive_text())
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(show, tasks.cancel_scope)
        tasks.start_soon(receive, tasks.cancel_scope)
        await hand_over.over.wait()
        tasks.cancel_scope.cancel()
    with suppress(RuntimeError, WebSocketDisconnect):  # the page may have gone first
        await socket.close()


async def _input(hand_over: HandOver, text: str) -> None:
    if hand_over.over.is_set() or len(text) > MAX_INPUT:
        return
    with suppress(ValueError, UiMcpError):  # an event that is none is ignored, as a browser does
        event: Json = loads(text)
        if isinstance(event, dict):
            await hand_over.browser.input(event)
