"""`GET /ws/ID`: the socket of a page."""

from collections.abc import Callable
from contextlib import suppress

from anyio import create_task_group
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ui_mcp.errors import UiMcpError
from ui_mcp.session.connection import Connection
from ui_mcp.session.outbox import GOING_AWAY, SESSION_ENDED, Closed
from ui_mcp.session.session import Session

DRIVEN = "ui-mcp-eyes"
"""Word in the user agent of the browser by which an agent looks at pages."""

FindForPage = Callable[[str, HTTPConnection], Session | None]
"""The session a socket's URL names, if this visitor may have it."""


class PageSocket:
    """Carries frames between a page and its session until either side ends it."""

    def __init__(self, find: FindForPage) -> None:
        self._find = find

    async def serve(self, socket: WebSocket) -> None:
        """Answer one upgrade."""
        session = self._find(socket.path_params["session"], socket)
        if session is None:
            await socket.send_denial_response(PlainTextResponse("No such session\n", 404))
            return
        await socket.accept()
        try:
            driven = DRIVEN in socket.headers.get("user-agent", "")
            async with session.attach(driven=driven) as connection:
                await _carry(socket, connection)
                closed = connection.closed
        except UiMcpError as error:
            closed = Closed(SESSION_ENDED, error.message[:100])
        if socket.application_state is WebSocketState.CONNECTED and socket.client_state is WebSocketState.CONNECTED:
            closed = closed or Closed(GOING_AWAY, "the server stops")
            with suppress(RuntimeError, WebSocketDisconnect):
                await socket.close(closed.code, closed.reason)


async def _carry(socket: WebSocket, connection: Connection) -> None:
    async with create_task_group() as tasks:

        async def inward() -> None:
            with suppress(WebSocketDisconnect):
                while True:
                    await connection.receive(await _text(socket))
            tasks.cancel_scope.cancel()

        async def outward() -> None:
            with suppress(WebSocketDisconnect):
                while frames := await connection.take():
                    for frame in frames:
                        await socket.send_text(frame)
            tasks.cancel_scope.cancel()

        tasks.start_soon(inward)
        tasks.start_soon(outward)


async def _text(socket: WebSocket) -> str:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", GOING_AWAY))
    text: str | None = message.get("text")
    return text if text is not None else message["bytes"].decode("utf-8", "replace")
