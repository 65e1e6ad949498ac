"""Routes of both ports: /wait, /state, /variables and the WebSocket of pages."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from anyio import CancelScope, create_task_group
from anyio.lowlevel import checkpoint
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from ui_mcp.errors import LifecycleError, NotFoundError, SessionGoneError, UiMcpError
from ui_mcp.ui.http.session_cookies import is_start, named_session, session_from_cookie, set_session_cookie
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.events import EventQueue, as_array, clamp_wait
from ui_mcp.ui.sessions.pages import Closed, Connection
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.auth import OneTimeTokens
from ui_mcp.webserver.person_auth import DRIVEN
from ui_mcp.webserver.static import HOME, Components, shared_style_route
from ui_mcp.wire import GOING_AWAY, RESTARTED, SESSION_ENDED

NO_SESSION = "No active session"
MAX_PAGE_ID = 40


class Wait:
    """Answers GET /wait with all queued events, 204 after the timeout, or 404 without a session.

    Undelivered events return to the queue. The answer is therefore sent in chunks: the last, empty one completes it,
    and is sent only if the connection survived writing the events.
    """

    def __init__(self, queue: Callable[[str], EventQueue]) -> None:
        self._queue = queue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
    """Write the events, or return the response to send instead; None also if the client has disconnected."""
    response: Response | None = None
    written = False
    with CancelScope() as waiting:
        async with create_task_group() as tasks:
            tasks.start_soon(_cancel_on_disconnect, receive, waiting)
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


async def _cancel_on_disconnect(receive: Receive, waiting: CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    waiting.cancel()


async def _write(body: bytes, send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    for _ in range(3):  # the loop reports a broken connection one or two iterations after the write
        await checkpoint()


JSON = "application/json"


class State:
    """Serves the state of a session; an unknown session raises `NotFoundError`, the application's 404."""

    def __init__(self, find: Callable[[str], Session]) -> None:
        self._find = find

    async def get(self, request: Request) -> Response:
        session = self._find(request.query_params.get("sessionId", "1"))
        return Response(await session.state_json(), media_type=JSON)


PAGE = Path(__file__).with_name("variables.html")
HOME_PLACEHOLDER = "{{home}}"
SetCookie = Callable[[Request, Response], Response]


class Variables:
    """Serves the variable browser and its data.

    `home` is a link to the start page, if there is one. `set_cookie` admits a visitor who opens this page first.
    `is_start` returns whether a session id in the path means the same as none.
    """

    def __init__(
        self,
        find: Callable[[Request], Session],
        home: str = "",
        set_cookie: SetCookie | None = None,
        is_start: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._find = find
        self._home = home
        self._set_cookie = set_cookie
        self._is_start = is_start

    async def json(self, request: Request) -> Response:
        """Serve the array of `ui://variables`."""
        return Response(await self._find(request).variables_json(), media_type="application/json")

    async def page(self, request: Request) -> Response:
        """Serve the page, or the data if the client accepts JSON."""
        if "application/json" in request.headers.get("accept", ""):
            return await self.json(request)
        page = HTMLResponse(PAGE.read_text(encoding="utf-8").replace(HOME_PLACEHOLDER, self._home))
        given = request.path_params.get("session")
        if self._set_cookie and (given is None or self._is_start(given)):
            return self._set_cookie(request, page)
        self._find(request)
        return page


def ui_routes(host: UiServer, tokens: OneTimeTokens) -> Sequence[BaseRoute]:
    def for_page(given: str, connection: HTTPConnection) -> Session | None:
        try:
            sessions = host.running().sessions
            spent = tokens.spend(connection.query_params.get("token", ""))
            return sessions.get(spent) if spent else named_session(given, connection, sessions)
        except (LifecycleError, NotFoundError):
            return None

    def for_visitor(request: Request) -> Session:
        given: str = request.path_params.get("session", "")
        sessions = host.running().sessions
        shared = not given or is_start(given, host)
        found = session_from_cookie(request, sessions) if shared else named_session(given, request, sessions)
        if found is None:
            raise HTTPException(404, "No such session")
        return found

    variables = Variables(for_visitor, HOME, partial(set_session_cookie, host), lambda given: is_start(given, host))
    return [
        WebSocketRoute("/ws/{session}", PageSocket(for_page)),
        *(
            route
            for prefix in ("", "/{session}")
            for route in (
                Route(f"{prefix}/variables", variables.page, methods=["GET"]),
                Route(f"{prefix}/variables.json", variables.json, methods=["GET"]),
            )
        ),
    ]


def mcp_routes(host: UiServer) -> Sequence[BaseRoute]:
    def find(given: str) -> Session:
        return host.running().sessions.get(given)

    def named_in_query(request: Request) -> Session:
        return find(request.query_params.get("sessionId", "1"))

    variables = Variables(named_in_query)
    wait = Route("/wait", Wait(lambda given: find(given).events), methods=["GET"])
    wait.methods = {"GET"}  # Starlette adds HEAD, which would take the events and send none of them
    return [
        wait,
        Route("/state", State(find).get, methods=["GET"]),
        Route("/variables", variables.page, methods=["GET"]),
        Route("/variables.json", variables.json, methods=["GET"]),
        Route("/vendor/{path:path}", Components().get, methods=["GET"]),
        shared_style_route(),
    ]


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
            async with session.attach(
                driven=driven, page=socket.query_params.get("page", "")[:MAX_PAGE_ID]
            ) as connection:
                await _forward(receive, send, connection, _first_frame(socket.query_params.get("watch")))
                closed = connection.closed or Closed(GOING_AWAY, "the server stops")
        except UiMcpError as error:
            # A session whose worker just exited gets a new one, so the page may reconnect.
            closed = Closed(SESSION_ENDED if session.over else RESTARTED, session.over or error.message)
        with suppress(RuntimeError, OSError):  # the page has disconnected
            await send({"type": "websocket.close", "code": closed.code, "reason": closed.short_reason})


def _first_frame(address: str | None) -> str | None:
    """Return what a page asks for by the address of its socket: all that is shown at `address`.

    A request that it sends itself waits until the page's scripts have run.
    """
    if address is None:
        return None
    watch = {"varId": 1, "expand": True, "address": address}
    return json.dumps({"userEvent": False, "messages": [{"type": "watch", "data": watch}]})


async def _forward(receive: Receive, send: Send, connection: Connection, first: str | None) -> None:
    async with create_task_group() as tasks:

        async def inward() -> None:
            if first is not None:
                await connection.receive(first)
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
