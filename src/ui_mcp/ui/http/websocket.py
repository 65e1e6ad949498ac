"""`GET /ws/ID`: the WebSocket of a page."""

from collections.abc import Callable
from contextlib import suppress

from anyio import create_task_group
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from ui_mcp.errors import UiMcpError
from ui_mcp.ui.sessions.pages import Closed, Connection
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.person_auth import DRIVEN
from ui_mcp.wire import GOING_AWAY, RESTARTED, SESSION_ENDED

FindForPage = Callable[[str, HTTPConnection], Session | None]
"""Returns the session that a WebSocket URL names, if this visitor may open it."""


class PageSocket:
    """Forwards frames between a page and its session until either side closes."""

    def __init__(self, find: FindForPage) -> None:
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        session = self._find(socket.path_params["session"], socket)
        if session is None:
            await socket.send_denial_response(PlainTextResponse("No such session\n", 404))
            return
        await socket.accept()
        try:
            driven = DRIVEN in socket.headers.get("user-agent", "")
            async with session.attach(driven=driven) as connection:
                await _forward(receive, send, connection)
                closed = connection.closed or Closed(GOING_AWAY, "the server stops")
        except UiMcpError as error:
            # A session whose worker just exited gets a new one, so the page may reconnect.
            closed = Closed(SESSION_ENDED if session.over else RESTARTED, session.over or error.message)
        with suppress(RuntimeError, OSError):  # the page has disconnected
            await send({"type": "websocket.close", "code": closed.code, "reason": closed.short_reason})


async def _forward(receive: Receive, send: Send, connection: Connection) -> None:
    async with create_task_group() as tasks:

        async def inward() -> None:
            while (message := await receive())["type"] == "websocket.receive":
                text = message.get("text")
                await connection.receive(message["bytes"].decode("utf-8", "replace") if text is None else text)
            tasks.cancel_scope.cancel()

        async def outward() -> None:
            with suppress(OSError):  # the page has disconnected
                while frames := await connection.take():
                    for frame in frames:
                        await send({"type": "websocket.send", "text": frame})
            tasks.cancel_scope.cancel()

        tasks.start_soon(inward)
        tasks.start_soon(outward)
