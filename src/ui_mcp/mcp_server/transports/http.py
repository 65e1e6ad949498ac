"""Bodies, JSON answers and event streams over ASGI."""

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

# A client that takes nothing for this long is given up; others must not wait for it.
SEND_SECONDS = 30.0

_EVENT_STREAM: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)


class BodyTooLargeError(Exception):
    """The body is over the limit."""


class ClientDisconnectedError(Exception):
    """The client went away before it had sent everything, or stopped reading."""


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the request's headers by lower-case name; of repeated ones the last."""
    # White space around a value is not part of it, and not every HTTP parser removes it.
    return {name.decode("latin-1"): value.decode("latin-1").strip(" \t") for name, value in scope["headers"]}


async def read_body(receive: Receive) -> bytes:
    """Read the whole body.

    Raises:
        BodyTooLargeError: it is over the limit.
        ClientDisconnectedError: it never came.
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
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def respond_json(send: Send, status: int, body: Json, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Answer with one JSON document."""
    await respond(send, status, messages.encode(body), ((b"content-type", b"application/json"), *headers))


async def respond_text(send: Send, status: int, text: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Answer with a short text."""
    await respond(send, status, text.encode(), ((b"content-type", b"text/plain; charset=utf-8"), *headers))


async def respond(send: Send, status: int, body: bytes = b"", headers: Headers = ()) -> None:
    """Answer and be done."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


class EventStream:
    """A `text/event-stream` response."""

    def __init__(self, send: Send, headers: Headers = ()) -> None:
        self._send = send
        self._headers = headers
        self._lock = anyio.Lock()
        self.started = False

    async def start(self) -> None:
        """Send the headers, once."""
        async with self._lock:
            if not self.started:
                self.started = True
                headers = [*_EVENT_STREAM, *self._headers]
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def event(self, data: bytes, name: bytes = b"message") -> None:
        """Send one event; `data` has no line breaks."""
        await self._write(b"event: " + name + b"\r\ndata: " + data + b"\r\n\r\n")

    async def message(self, message: Json) -> None:
        """Send one JSON-RPC message."""
        await self.event(messages.encode(message))

    async def keep_alive(self) -> None:
        """Send a comment, so that nobody between us closes the connection."""
        await self._write(b": alive\r\n\r\n")

    async def end(self) -> None:
        """Close the stream, behind whatever is being written."""
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
    """Answers one POST; becomes an event stream with the first message, the first beat or on demand."""

    def __init__(self, send: Send, *, streams: bool, wants_stream: bool = False, headers: Headers = ()) -> None:
        self._send = send
        self._streams = streams
        self._wants_stream = wants_stream
        self._headers = headers
        self._stream = EventStream(send, headers)

    async def send_message(self, message: JsonObject) -> None:
        """Send a message that belongs to the request; lost on clients that take JSON only."""
        if self._streams:
            await self._stream.message(message)

    async def keep_alive(self) -> None:
        """Keep the connection alive while the answer takes its time."""
        if self._streams:
            await self._stream.keep_alive()

    async def finish(self, answer: Json | None, *, statuses: bool = False) -> None:
        """Send the answer; `statuses` maps errors to HTTP statuses, as the modern era wants."""
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
    """Do the work and send its answer; a client that leaves cancels it."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch_connection, receive, reply, tasks)
            await reply.finish(await work(), statuses=statuses)
            tasks.cancel_scope.cancel()
    except* (ClientDisconnectedError, OSError):
        pass  # nobody is left to be told


async def until_disconnected(receive: Receive, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work for as long as the client stays."""

    async def watch(tasks: TaskGroup) -> None:
        await wait_disconnect(receive)
        tasks.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, tasks)
            await work()
            tasks.cancel_scope.cancel()
    except* (ClientDisconnectedError, OSError):
        pass  # nobody is left to be told


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
    """Make an HTTP refusal that JSON-RPC clients can read."""
    return status, messages.error(request_id, code, text)
