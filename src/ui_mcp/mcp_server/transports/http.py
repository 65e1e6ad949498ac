"""The little ASGI our two HTTP transports need: bodies with a limit, JSON answers, event streams."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import anyio

from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

MAX_BODY = 4 * 1024 * 1024
BEAT_SECONDS = 15.0
# A client that takes nothing for this long is given up; others must not wait for it.
SEND_SECONDS = 30.0
_STREAM: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)


class BodyTooLargeError(Exception):
    """The body is over the limit."""


class ClientLeftError(Exception):
    """The client went away before it had sent everything, or stopped reading."""


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the request's headers by lower-case name; of repeated ones the last."""
    # White space around a value is not part of it, and not every HTTP parser removes it.
    return {name.decode("latin-1"): value.decode("latin-1").strip(" \t") for name, value in scope["headers"]}


async def read_body(receive: Receive) -> bytes:
    """Read the whole body.

    Raises:
        BodyTooLargeError: it is over the limit.
        ClientLeftError: it never came.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeftError
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY:
            raise BodyTooLargeError
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def left(receive: Receive) -> None:
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
                headers = [*_STREAM, *self._headers]
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def event(self, data: bytes, name: bytes = b"message") -> None:
        """Send one event; `data` has no line breaks."""
        await self._write(b"event: " + name + b"\r\ndata: " + data + b"\r\n\r\n")

    async def message(self, message: Json) -> None:
        """Send one JSON-RPC message."""
        await self.event(messages.encode(message))

    async def beat(self) -> None:
        """Send a comment, so that nobody between us closes the connection."""
        await self._write(b": alive\r\n\r\n")

    async def end(self) -> None:
        """Close the stream, behind whatever is being written."""
        async with self._lock:
            await self._send({"type": "http.response.body", "body": b""})

    async def _write(self, data: bytes) -> None:
        await self.start()
        async with self._lock:
            with anyio.move_on_after(SEND_SECONDS) as patience:
                await self._send({"type": "http.response.body", "body": data, "more_body": True})
        if patience.cancelled_caught:
            raise ClientLeftError
