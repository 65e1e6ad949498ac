"""Request bodies, JSON responses and event streams over ASGI."""

from asyncio import Task, get_running_loop
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, MutableMapping
from functools import cached_property
from types import MappingProxyType, TracebackType
from typing import Any

import anyio

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server.notifications import NotificationQueue
from ui_mcp.mcp_server.versions import UNSUPPORTED_VERSION

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Handler = Callable[[Any, Scope, Receive, Send], Coroutine[Any, Any, None]]
"""A method that handles requests."""
Headers = tuple[tuple[bytes, bytes], ...]
MAX_BODY = 4 * 1024 * 1024
KEEP_ALIVE_SECONDS = 15.0
WATCH_SECONDS = 0.02
"""After once or twice this time, a request whose client disconnects is cancelled."""

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


def endpoint(handle: Handler) -> Handler:
    """Make a method an ASGI application that responds to what the method refuses."""

    async def application(owner: Any, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await handle(owner, scope, receive, send)
        except RefusedError as error:
            await respond_json(send, error.status, error.body, error.headers)
        except ClientDisconnectedError:
            pass  # no client is left to answer

    return application


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
        # Keep-alives and messages come from different tasks. Made on first use: most replies are one JSON answer.
        return anyio.Lock()

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


class Connected:
    """Block that is cancelled when the client disconnects; it keeps `reply` alive meanwhile."""

    __slots__ = ("_receive", "_reply", "_scope", "_watch", "task")

    def __init__(self, watch: "DisconnectWatch", receive: Receive, reply: Reply | None) -> None:
        self._watch = watch
        self._receive = receive
        self._reply = reply
        self._scope = anyio.CancelScope()
        self.task: Task[None] | None = None

    def __enter__(self) -> anyio.CancelScope:
        self._watch.add(self)
        return self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._watch.remove(self)
        if self.task is not None:
            self.task.cancel()
        # After these errors, no client is left to answer.
        return bool(self._scope.__exit__(kind, error, trace)) or isinstance(error, ClientDisconnectedError | OSError)

    async def watch(self) -> None:
        """Cancel the block when the client has disconnected, or no longer reads."""
        try:
            while True:
                with anyio.move_on_after(KEEP_ALIVE_SECONDS if self._reply else None):
                    while (await self._receive())["type"] != "http.disconnect":
                        pass
                    break
                if self._reply is not None:
                    await self._reply.keep_alive()
        except (ClientDisconnectedError, OSError):
            pass
        self._scope.cancel()


class DisconnectWatch:
    """Watches the clients of requests that take more than a moment.

    One timer serves all requests: a timer or task for each would take a fifth of the time of a small call.
    """

    def __init__(self) -> None:
        self._new: set[Connected] = set()
        self._older: set[Connected] = set()
        self._armed = False

    def add(self, request: Connected) -> None:
        self._new.add(request)
        if not self._armed:
            self._arm()

    def remove(self, request: Connected) -> None:
        self._new.discard(request)
        self._older.discard(request)

    def _arm(self) -> None:
        self._armed = True
        get_running_loop().call_later(WATCH_SECONDS, self._tick)

    def _tick(self) -> None:
        # What was there at the last tick already has run for WATCH_SECONDS at least; the others get another one.
        for request in self._older:
            request.task = get_running_loop().create_task(request.watch())
        self._older, self._new, self._armed = self._new, set(), False
        if self._older:
            self._arm()
