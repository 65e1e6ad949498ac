"""Request bodies, JSON responses and event streams over ASGI."""

from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import anyio
from anyio.abc import TaskGroup

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server.notifications import NotificationQueue
from ui_mcp.mcp_server.versions import UNSUPPORTED_VERSION

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]
MAX_BODY = 4 * 1024 * 1024
KEEP_ALIVE_SECONDS = 15.0
WATCH_SECONDS = 0.02
"""After this time, a request whose client disconnects is cancelled."""

# A client that reads nothing for this long counts as disconnected: it must not block others.
SEND_SECONDS = 30.0

_EVENT_STREAM: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
_STATUSES: Mapping[int, int] = MappingProxyType(
    {
        rpc.METHOD_NOT_FOUND: 404,
        **dict.fromkeys((rpc.PARSE_ERROR, rpc.INVALID_REQUEST, rpc.INVALID_PARAMS), 400),
        **dict.fromkeys((HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION), 400),
    }
)
"""HTTP status of a modern error by its code; 200 for others."""


class ClientDisconnectedError(Exception):
    """The client disconnected before it had sent everything, or stopped reading."""


class RefusedError(Exception):
    """A request that gets an HTTP status and a JSON-RPC error instead of an answer."""

    def __init__(
        self,
        status: int,
        text: str,
        *,
        code: int = rpc.INVALID_REQUEST,
        request_id: rpc.RequestId | None = None,
        allow: str = "",
    ) -> None:
        super().__init__(text)
        self.status = status
        self.body = rpc.error(request_id, code, text)
        self.headers: Headers = ((b"allow", allow.encode()),) if allow else ()


async def answer(send: Send, work: Awaitable[None]) -> None:
    """Await the handling of a request, and respond if it is refused."""
    try:
        await work
    except RefusedError as error:
        await respond_json(send, error.status, error.body, error.headers)
    except ClientDisconnectedError:
        pass  # no client is left to answer


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers by lower-case name; of a repeated header, the last one."""
    # Not every HTTP parser strips the optional white space around a value.
    return {name.decode("latin-1"): value.decode("latin-1").strip(" \t") for name, value in scope["headers"]}


async def read_message(receive: Receive) -> Json:
    """Return the decoded body.

    Raises:
        RefusedError: it is larger than `MAX_BODY`, or not JSON.
        ClientDisconnectedError: the client disconnected first.
    """
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise RefusedError(413, "Bodies are limited to 4 MiB")
        more = message.get("more_body", False)
    try:
        return rpc.decode(body)
    except ValueError:
        raise RefusedError(400, "Parse error", code=rpc.PARSE_ERROR) from None


async def respond_json(send: Send, status: int, body: Json, headers: Headers = ()) -> None:
    await respond(send, status, rpc.encode(body), ((b"content-type", b"application/json"), *headers))


async def respond(send: Send, status: int, body: bytes = b"", headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send a complete response."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


class Reply:
    """Response to one request: becomes an event stream with its first event, or stays one JSON answer."""

    def __init__(self, send: Send, headers: Headers = (), *, streams: bool = True, wants_stream: bool = False) -> None:
        self._send = send
        self._headers = headers
        self._streams = streams
        self._wants_stream = wants_stream
        self._started = False

    @cached_property
    def _lock(self) -> anyio.Lock:
        return anyio.Lock()  # keep-alives and messages come from different tasks

    async def event(self, data: bytes, name: bytes = b"message") -> None:
        """Send one event, or drop it if the client accepts only JSON; `data` must not contain line breaks."""
        await self._write(b"event: " + name + b"\r\ndata: " + data + b"\r\n\r\n")

    async def message(self, message: Json) -> None:
        await self.event(rpc.encode(message))

    async def keep_alive(self) -> None:
        """Send a comment, so that no proxy closes the idle connection."""
        await self._write(b": alive\r\n\r\n")

    async def forward(self, queue: NotificationQueue) -> None:
        """Send the messages of a queue until it is closed, and keep-alives in between."""
        while True:
            messages: list[JsonObject] | None = None
            with anyio.move_on_after(KEEP_ALIVE_SECONDS):
                messages = await queue.get()
            if messages is None:
                await self.keep_alive()
            elif not messages:
                return
            for message in messages or ():
                await self.message(message)

    async def finish(self, answer: Json, *, statuses: bool = False) -> None:
        """Send the answer; `statuses` maps errors to HTTP statuses, as the modern era requires."""
        problem = answer.get("error") if isinstance(answer, dict) else None
        wanted = self._wants_stream and self._streams and answer is not None and problem is None
        if self._started or wanted:
            if answer is not None:
                await self.message(answer)
            await self.end()
        elif answer is None:
            await respond(self._send, 202, headers=self._headers)
        else:
            status = _STATUSES.get(problem["code"], 200) if statuses and problem else 200
            await respond_json(self._send, status, answer, self._headers)

    async def end(self) -> None:
        """Close the stream after the write in progress."""
        async with self._lock:
            await self._send({"type": "http.response.body", "body": b""})

    async def _write(self, data: bytes) -> None:
        if not self._streams:
            return
        async with self._lock:
            with anyio.move_on_after(SEND_SECONDS) as timeout:
                if not self._started:
                    self._started = True
                    headers = [*_EVENT_STREAM, *self._headers]
                    await self._send({"type": "http.response.start", "status": 200, "headers": headers})
                await self._send({"type": "http.response.body", "body": data, "more_body": True})
        if timeout.cancelled_caught:
            raise ClientDisconnectedError


async def until_disconnected(receive: Receive, work: Awaitable[None], reply: Reply | None = None) -> None:
    """Await `work`, but not longer than the client is connected; keep `reply` alive meanwhile."""
    watched = False
    try:
        async with anyio.create_task_group() as tasks:

            def watch() -> None:
                nonlocal watched
                watched = True
                tasks.start_soon(_watch, receive, tasks, reply)

            # Most answers are ready before a task that watches the client would have started.
            later = get_running_loop().call_later(WATCH_SECONDS, watch)
            try:
                await work
            finally:
                later.cancel()
            if watched:
                tasks.cancel_scope.cancel()
    except* (ClientDisconnectedError, OSError):
        pass  # no client is left to answer


async def _watch(receive: Receive, tasks: TaskGroup, reply: Reply | None) -> None:
    while True:
        with anyio.move_on_after(KEEP_ALIVE_SECONDS if reply else None):
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()
            return
        if reply is not None:
            await reply.keep_alive()
