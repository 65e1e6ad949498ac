"""`GET /ws/ID`: the socket of a page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from anyio import create_task_group
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from ui_mcp.errors import UiMcpError
from ui_mcp.ui.sessions.pages import Closed, Connection
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.line import Line, line_of
from ui_mcp.webserver.person_auth import DRIVEN
from ui_mcp.wire import GOING_AWAY, RESTARTED, SESSION_ENDED

FindForPage = Callable[[str, HTTPConnection], Session | None]
"""The session a socket's URL names, if this visitor may have it."""


class PageSocket:
    """Carries frames between a page and its session until either side ends it."""

    def __init__(self, find: FindForPage) -> None:
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one upgrade."""
        socket = WebSocket(scope, receive, send)
        session = self._find(socket.path_params["session"], socket)
        if session is None:
            await socket.send_denial_response(PlainTextResponse("No such session\n", 404))
            return
        await socket.accept()
        try:
            driven = DRIVEN in socket.headers.get("user-agent", "")
            async with session.attach(driven=driven) as connection:
                with _straight(line_of(scope), connection):
                    await _carry(receive, send, connection)
                closed = connection.closed or Closed(GOING_AWAY, "the server stops")
        except UiMcpError as error:
            # One that died in this very moment gets another world, so the page may come back.
            closed = Closed(SESSION_ENDED if session.over else RESTARTED, session.over or error.message)
        with suppress(RuntimeError, OSError):  # the page is gone already
            await send({"type": "websocket.close", "code": closed.code, "reason": closed.short_reason})


@contextmanager
def _straight(line: Line | None, connection: Connection) -> Iterator[None]:
    """Let frames pass without waking a task while nothing waits before them."""
    if line is None:
        yield
        return
    line.take, connection.outbox.line = connection.receive_now, line.put
    try:
        yield
    finally:
        line.take = connection.outbox.line = None


async def _carry(receive: Receive, send: Send, connection: Connection) -> None:
    async with create_task_group() as tasks:

        async def inward() -> None:
            while (message := await receive())["type"] == "websocket.receive":
                text = message.get("text")
                await connection.receive(message["bytes"].decode("utf-8", "replace") if text is None else text)
            tasks.cancel_scope.cancel()

        async def outward() -> None:
            with suppress(OSError):  # the page is gone
                while frames := await connection.take():
                    for frame in frames:
                        await send({"type": "websocket.send", "text": frame})
            tasks.cancel_scope.cancel()

        tasks.start_soon(inward)
        tasks.start_soon(outward)
