"""The timeline of a conversation over HTTP and WebSocket: a snapshot, then numbered changes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_mcp.agent.conversation import Conversation
from ui_mcp.httpd.events import event_stream, event_text
from ui_mcp.jsontypes import JsonObject, dumps

HEARTBEAT = 15.0


class Timelines:
    """Serves timelines; whoever comes back with the number of the last change is brought up to date."""

    def __init__(self, open_conversation: Callable[[str], Awaitable[Conversation]]) -> None:
        self._open = open_conversation

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints."""
        return [
            Route("/timeline", self.read, methods=["GET"]),
            Route("/timeline/stream", self.stream, methods=["GET"]),
            WebSocketRoute("/ws/timeline", self.socket),
        ]

    async def read(self, request: Request) -> Response:
        """Answer with the snapshot, or with the changes after `after_seq`."""
        conversation = await self._open(request.query_params.get("conversation", "default"))
        if "after_seq" in request.query_params:
            return JSONResponse(conversation.since(_number(request.query_params["after_seq"])))
        return JSONResponse(conversation.snapshot())

    async def stream(self, request: Request) -> Response:
        """Answer with a stream that begins with a snapshot, or where `Last-Event-ID` left off."""
        conversation = await self._open(request.query_params.get("conversation", "default"))
        name, _, number = request.headers.get("last-event-id", "").rpartition(":")
        seen = _number(number) if name == conversation.name else 0

        async def texts() -> AsyncIterator[str]:
            async for frame in frames_of(conversation, seen):
                yield event_text(frame["type"], frame, f"{conversation.name}:{frame.get('seq', '')}")

        return event_stream(texts())

    async def socket(self, socket: WebSocket) -> None:
        """Serve one page until it leaves."""
        await socket.accept()
        try:
            hello = await socket.receive_json()
            conversation = await self._open(str(hello.get("conversation", "default")))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_beat, socket)
                tasks.start_soon(_leave, socket, tasks.cancel_scope)
                seen = hello.get("last_seq") if hello.get("state_id") == conversation.name else 0
                async for frame in frames_of(conversation, _number(seen)):
                    await socket.send_text(dumps(frame))
        except (WebSocketDisconnect, ValueError, ExceptionGroup):
            return


async def frames_of(conversation: Conversation, seen: int) -> AsyncIterator[JsonObject]:
    """Yield what a client that has seen `seen` changes lacks, and then everything that happens."""
    with conversation.news.watched() as news:
        for frame in conversation.since(seen):
            yield frame
        async for frame in news:
            yield frame


def _number(text: object) -> int:
    return int(text) if isinstance(text, int) or (isinstance(text, str) and text.isdigit()) else 0


async def _beat(socket: WebSocket) -> None:
    while True:
        await anyio.sleep(HEARTBEAT)
        await socket.send_text('{"type":"heartbeat"}')


async def _leave(socket: WebSocket, serving: anyio.CancelScope) -> None:
    try:
        while True:
            await socket.receive_text()
    except WebSocketDisconnect:
        serving.cancel()
