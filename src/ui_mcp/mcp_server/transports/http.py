"""Request bodies, JSON responses and event streams over ASGI."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS

from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json, JsonObject

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]
MAX_BODY = 4 * 1024 * 1024
KEEP_ALIVE_SECONDS = 15.0

# A client that reads nothing for this long counts as disconnected: it must not block others.
SEND_SECONDS = 30.0

_EVENT_STREAM: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)


class BodyTooLargeError(Exception):
    """The body is larger than `MAX_BODY`."""


class ClientDisconnectedError(Exception):
    """The client disconnected before it had sent everything, or stopped reading."""


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers by lower-case name; of a repeated header, the last one."""
    # Not every HTTP parser strips the optional white space around a value.
    return {name.decode("latin-1"): value.decode("latin-1").strip(" \t") for name, value in scope["headers"]}


async def read_body(receive: Receive) -> bytes:
    """Return the whole body.

    Raises:
        BodyTooLargeError: it is larger than `MAX_BODY`.
        ClientDisconnectedError: the client disconnected first.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY:
            raise BodyTooLargeError
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def wait_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def respond_json(send: Send, status: int, body: Json, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    await respond(send, status, messages.encode(body), ((b"content-type", b"application/json"), *headers))


async def respond_text(send: Send, status: int, text: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    await respond(send, status, text.encode(), ((b"content-type", b"text/plain; charset=utf-8"), *headers))


async def respond(send: Send, status: int, body: bytes = b"", headers: Headers = ()) -> None:
    """Send a complete response."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


class EventStream:
    """A `text/event-stream` response."""

    def __init__(self, send: Send, headers: Headers = ()) -> None:
        self._send = send
        self._headers = headers
        self._lock = anyio.Lock()  # keep-alives and messages come from different tasks
        self.started = False

    async def start(self) -> None:
        """Send the headers; later calls do nothing."""
        async with self._lock:
            if not self.started:
                self.started = True
                headers = [*_EVENT_STREAM, *self._headers]
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def event(self, data: bytes, name: bytes = b"message") -> None:
        """Send one event; `data` must not contain line breaks."""
        await self._write(b"event: " + name + b"\r\ndata: " + data + b"\r\n\r\n")

    async def message(self, message: Json) -> None:
        await self.event(messages.encode(message))

    async def keep_alive(self) -> None:
        """Send a comment, so that no proxy closes the idle connection."""
        await self._write(b": alive\r\n\r\n")

    async def end(self) -> None:
        """Close the stream after the write in progress."""
        async with self._lock:
            await self._send({"type": "http.response.body", "body": b""})

    async def _write(self, data: bytes) -> None:
        await self.start()
        async with self._lock:
            with anyio.move_on_after(SEND_SECONDS) as timeout:
                await self._send({"type": "http.response.body", "body": data, "more_body": True})
        if timeout.cancelled_caught:
            raise ClientDisconnectedError


class HttpReply:
    """Response to one POST; becomes an event stream with the first message or keep-alive, or if requested."""

    def __init__(self, send: Send, *, streams: bool, wants_stream: bool = False, headers: Headers = ()) -> None:
        self._send = send
        self._streams = streams
        self._wants_stream = wants_stream
        self._headers = headers
        self._stream = EventStream(send, headers)

    async def send_message(self, message: JsonObject) -> None:
        """Send a message that belongs to the request; dropped if the client accepts only JSON."""
        if self._streams:
            await self._stream.message(message)

    async def keep_alive(self) -> None:
        """Keep the connection open while the answer is not ready."""
        if self._streams:
            await self._stream.keep_alive()

    async def finish(self, answer: Json | None, *, statuses: bool = False) -> None:
        """Send the answer; `statuses` maps errors to HTTP statuses, as the modern era requires."""
        if self._stream.started or (self._streams and self._wants_stream and _succeeded(answer)):
            if answer is not None:
                await self._stream.message(answer)
            await self._stream.end()
        elif answer is None:
            await respond(self._send, 202, headers=self._headers)
        else:
            status = _status(answer) if statuses else 200
            await respond_json(self._send, status, answer, self._headers)


async def while_connected(
    receive: Receive, reply: HttpReply, work: Callable[[], Awaitable[Json | None]], *, statuses: bool = False
) -> None:
    """Run `work` and send its answer; cancel it if the client disconnects."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch_connection, receive, reply, tasks)
            await reply.finish(await work(), statuses=statuses)
            tasks.cancel_scope.cancel()
    except* (ClientDisconnectedError, OSError):
        pass  # no client is left to answer


async def until_disconnected(receive: Receive, work: Callable[[], Awaitable[None]]) -> None:
    """Run `work` until the client disconnects."""

    async def watch(tasks: TaskGroup) -> None:
        await wait_disconnect(receive)
        tasks.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, tasks)
            await work()
            tasks.cancel_scope.cancel()
    except* (ClientDisconnectedError, OSError):
        pass  # no client is left to answer


async def _watch_connection(receive: Receive, reply: HttpReply, tasks: TaskGroup) -> None:
    while True:
        with anyio.move_on_after(KEEP_ALIVE_SECONDS):
            await wait_disconnect(receive)
            tasks.cancel_scope.cancel()
            return
        await reply.keep_alive()


def _succeeded(answer: Json | None) -> bool:
    return not isinstance(answer, dict) or "result" in answer


def _status(answer: Json) -> int:
    problem = answer.get("error") if isinstance(answer, dict) else None
    return ERROR_CODE_HTTP_STATUS.get(problem["code"], 200) if problem else 200


def refusal(status: int, code: int, text: str, request_id: messages.RequestId | None = None) -> tuple[int, JsonObject]:
    """Return an HTTP status and a JSON-RPC error as its body."""
    return status, messages.error(request_id, code, text)
