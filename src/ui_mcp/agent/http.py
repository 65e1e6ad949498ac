"""Serves the timeline of a conversation over HTTP and WebSocket: a snapshot, then numbered changes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Protocol

import anyio
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_mcp.agent.journal import RequestKind
from ui_mcp.agent.timeline import RunState, state_after
from ui_mcp.chat.message import conversation_name
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.webserver.responses import event_stream, event_text

HEARTBEAT = 15.0
HELLO_SECONDS = 10.0
NOT_ALLOWED = 4401


class Frames(Protocol):
    """The changes of a conversation."""

    def watched(self) -> AbstractContextManager[AsyncIterator[JsonObject]]:
        """Yield a stream of the frames from now on."""
        ...


class Watched(Protocol):
    """A conversation whose timeline can be watched."""

    @property
    def name(self) -> str: ...
    @property
    def news(self) -> Frames: ...
    @property
    def run_state(self) -> RunState: ...
    def snapshot(self) -> JsonObject: ...
    def since(self, seq: int) -> list[JsonObject]: ...


Answering = Callable[[Request], Awaitable[Response]]
IsAllowed = Callable[[HTTPConnection, str | None], Awaitable[bool]]
"""Returns whether a client may watch; the token is that of a WebSocket's first frame."""


async def allow_all(connection: HTTPConnection, token: str | None) -> bool:
    return True


class Timelines:
    """Serves timelines; a client that reconnects with the number of its last change gets only the later ones."""

    def __init__(
        self, open_conversation: Callable[[str], Awaitable[Watched]], is_allowed: IsAllowed = allow_all
    ) -> None:
        self._open = open_conversation
        self._is_allowed = is_allowed

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/timeline", self._allowed(self.read), methods=["GET"]),
            Route("/timeline/stream", self._allowed(self.stream), methods=["GET"]),
            Route("/agents/{id}/status", self._allowed(self.status), methods=["GET"]),
            WebSocketRoute("/ws/timeline", self.socket),
        ]

    def _allowed(self, work: Answering) -> Answering:
        return _guarded(self._is_allowed, work)

    async def read(self, request: Request) -> Response:
        """Return the snapshot, or the changes after `after_seq`."""
        conversation = await self._open(_name(request))
        if "after_seq" in request.query_params:
            return JSONResponse(conversation.since(_number(request.query_params["after_seq"])))
        return JSONResponse(conversation.snapshot())

    async def stream(self, request: Request) -> Response:
        """Return an event stream that begins with a snapshot, or after `Last-Event-ID`."""
        conversation = await self._open(_name(request))
        name, _, number = request.headers.get("last-event-id", "").rpartition(":")
        seen = _number(number) if name == conversation.name else 0

        async def texts() -> AsyncIterator[str]:
            newest = seen
            async for frame in frames_of(conversation, seen):
                newest = frame.get("seq", newest)
                yield event_text(frame["type"], frame, f"{conversation.name}:{newest}")

        return event_stream(texts())

    async def status(self, request: Request) -> Response:
        """Return the state of a conversation's agent."""
        conversation = await self._open(request.path_params["id"])
        return JSONResponse({"id": request.path_params["id"], "state": conversation.run_state})

    async def socket(self, socket: WebSocket) -> None:
        """Serve one WebSocket until the client disconnects."""
        await socket.accept()
        with suppress(WebSocketDisconnect, RuntimeError):
            hello = await _hello(socket)
            if hello is None or not await self._is_allowed(socket, _token(hello)):
                await socket.close(NOT_ALLOWED, "not allowed")
                return
            try:
                conversation = await self._open(str(hello.get("conversation", "default")))
            except UiMcpError as error:
                await socket.send_text(dumps({"type": "error", "code": error.code, "message": error.message}))
                await socket.close(NOT_ALLOWED, error.code)
                return
            seen = _number(hello.get("last_seq")) if hello.get("state_id") == conversation.name else 0
            await _send_frames(socket, conversation, seen)


class AgentRequests:
    """Lets people stop an agent's turn and begin one; the agent may be served by another process."""

    def __init__(self, ask: Callable[[str, RequestKind], Awaitable[bool]], is_allowed: IsAllowed) -> None:
        self._ask = ask
        self._is_allowed = is_allowed

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/agents/{id}/abort", self._asking("stop"), methods=["POST"]),
            Route("/agents/{id}/resume", self._asking("resume"), methods=["POST"]),
        ]

    def _asking(self, kind: RequestKind) -> Answering:
        async def ask(request: Request) -> Response:
            agent = conversation_name(request.path_params["id"])
            if await self._ask(agent, kind):
                return JSONResponse({"id": agent, "asked": kind}, 202)
            return _failed(
                409, "not_served", f"No agent serves the conversation {agent}\nStart one with `ui-mcp agent`."
            )

        return _guarded(self._is_allowed, ask)


def _guarded(is_allowed: IsAllowed, work: Answering) -> Answering:
    async def answer(request: Request) -> Response:
        if not await is_allowed(request, None):
            return _failed(401, "unauthorized", "Open the page of this server, or send a bearer token")
        try:
            return await work(request)
        except UiMcpError as error:
            return _failed(400, error.code, error.message)

    return answer


async def _send_frames(socket: WebSocket, conversation: Watched, seen: int) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_send_heartbeats, socket)
        tasks.start_soon(_cancel_on_disconnect, socket, tasks.cancel_scope)
        with suppress(WebSocketDisconnect, RuntimeError):
            async for frame in frames_of(conversation, seen):
                await socket.send_text(dumps(frame))
        tasks.cancel_scope.cancel()


async def _hello(socket: WebSocket) -> JsonObject | None:
    """Return the first frame; None if it does not arrive within `HELLO_SECONDS` or is not a JSON object."""
    with anyio.move_on_after(HELLO_SECONDS):
        try:
            given: Json = loads(await socket.receive_text())
        except (ValueError, KeyError):
            return None
        return given if isinstance(given, dict) else None
    return None


def _token(hello: JsonObject) -> str | None:
    token = hello.get("token")
    return token if isinstance(token, str) else None


async def frames_of(conversation: Watched, seen: int) -> AsyncIterator[JsonObject]:
    """Yield the changes after `seen`, then all further frames, with a `run_status` for every change of state."""
    with conversation.news.watched() as news:
        newest, state = 0, conversation.run_state
        for frame in conversation.since(seen):
            newest = frame["seq"]
            yield frame
        yield {"type": "run_status", "run": state}
        async for frame in news:
            if frame.get("seq", newest + 1) <= newest:
                continue  # already sent: it arrived between `watched` and `since`
            yield frame
            now = _known_state(conversation, state_after(state, frame.get("ops", ())))
            if now != state:
                state = now
                yield {"type": "run_status", "run": state}


def _known_state(conversation: Watched, told: RunState) -> RunState:
    """Correct what the items alone tell: a message that no agent has taken waits, and an agent may take it later."""
    if told in {"idle", "running"}:
        now = conversation.run_state
        return now if now in {"idle", "running"} else told
    return told


def _name(request: Request) -> str:
    return request.query_params.get("conversation", "default")


def _number(text: object) -> int:
    if isinstance(text, bool):
        return 0
    digits = isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 16
    return int(text) if isinstance(text, int) or (digits and isinstance(text, str)) else 0


def _failed(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message, "details": {}}}, status)


async def _send_heartbeats(socket: WebSocket) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await anyio.sleep(HEARTBEAT)
            await socket.send_text('{"type":"heartbeat"}')


async def _cancel_on_disconnect(socket: WebSocket, serving: anyio.CancelScope) -> None:
    with suppress(WebSocketDisconnect, RuntimeError, KeyError):
        while True:
            await socket.receive_text()
    serving.cancel()
