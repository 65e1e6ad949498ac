"""Context of one request: progress, requests to the client, disconnect signal."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext

from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.notifications import NotificationQueue

CONNECTION_CLOSED = -32000
REQUEST_TIMEOUT = -32001
_TIMEOUT_SECONDS = 300.0


@dataclass(slots=True)
class _Waiting:
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: JsonObject = field(default_factory=dict)


class ClientRequests:
    """The pending requests of this server to one client."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        self._next = 0

    async def ask(
        self,
        method: str,
        params: JsonObject | None,
        send: Callable[[JsonObject], Awaitable[None]],
        seconds: float | None = None,
    ) -> JsonObject:
        """Send a request to the client and return its result; `seconds` defaults to 300.

        Raises:
            MCPError: the client refused, disconnected or timed out.
        """
        self._next += 1
        key = f"ui-mcp-{self._next}"
        waiting = self._waiting[key] = _Waiting()
        try:
            await send({"jsonrpc": "2.0", "id": key, "method": method, **({"params": params} if params else {})})
            with anyio.fail_after(seconds or _TIMEOUT_SECONDS):
                await waiting.done.wait()
        except TimeoutError:
            raise MCPError(REQUEST_TIMEOUT, f"The client did not answer {method}") from None
        finally:
            self._waiting.pop(key, None)
        return _unpacked(waiting.answer)

    def resolve(self, message: JsonObject) -> None:
        """Pass a response to its waiting request; a response without one is dropped."""
        waiting = self._waiting.get(str(message.get("id")))
        if waiting is not None:
            waiting.answer = message
            waiting.done.set()

    def cancel_all(self) -> None:
        """Fail every pending request: the client has disconnected."""
        for waiting in self._waiting.values():
            waiting.answer = {"error": {"code": CONNECTION_CLOSED, "message": "Connection closed"}}
            waiting.done.set()


def _unpacked(answer: JsonObject) -> JsonObject:
    problem = answer.get("error")
    if isinstance(problem, dict):
        code = problem.get("code")
        raise MCPError(code if isinstance(code, int) else 0, str(problem.get("message", "")), problem.get("data"))
    result = answer.get("result")
    return result if isinstance(result, dict) else {}


SendMessage = Callable[[JsonObject], Awaitable[None]]

_DUPLEX = TransportContext(kind="ui-mcp", can_send_request=True)
_ONE_WAY = TransportContext(kind="ui-mcp", can_send_request=False)


class DisconnectSignal:
    """Signals to blocked calls that their client is disconnecting, so that they return what they have."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._callbacks: set[Callable[[], None]] = set()

    async def wait(self) -> None:
        await self._event.wait()

    def set(self) -> None:
        self._event.set()
        for callback in tuple(self._callbacks):
            callback()

    @contextmanager
    def call(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` if the client disconnects while the block runs."""
        self._callbacks.add(callback)
        try:
            if self._event.is_set():
                callback()
            yield
        finally:
            self._callbacks.discard(callback)


class RequestContext:
    """A request or notification being handled; implements the SDK's `DispatchContext`."""

    def __init__(
        self,
        message: JsonObject,
        send: SendMessage,
        *,
        principal: str,
        connection: str,
        disconnect: DisconnectSignal,
        queue: NotificationQueue,
        client_requests: ClientRequests | None = None,
    ) -> None:
        self.request_id: messages.RequestId | None = message.get("id")
        self.principal = principal
        self.connection = connection
        """Distinguishes this client from others of the same principal."""
        self.queue = queue
        """Queue of the notifications that belong to no request of this client."""
        self.message_metadata = ServerMessageMetadata(request_context=self)
        self._token = messages.progress_token(message)
        self._send = send
        self._disconnect = disconnect
        self._client_requests = client_requests

    @property
    def transport(self) -> TransportContext:
        return _ONE_WAY if self._client_requests is None else _DUPLEX

    @property
    def can_send_request(self) -> bool:
        return self._client_requests is not None

    @property
    def cancel_requested(self) -> anyio.Event:
        """Never set: a cancelled request is cancelled by its scope instead."""
        return anyio.Event()

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send a notification that belongs to this request."""
        await self._send(messages.notification(method, None if params is None else dict(params)))

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress if the client sent a progress token."""
        if self._token is None:
            return
        params: JsonObject = {"progressToken": self._token, "progress": done, "total": total, "message": message}
        await self.notify("notifications/progress", {key: value for key, value in params.items() if value is not None})

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send a request to the client while its own request is open."""
        if self._client_requests is None:
            raise NoBackChannelError(method)
        limit = (opts or {}).get("timeout")
        return await self._client_requests.ask(method, None if params is None else dict(params), self._send, limit)

    async def closing(self) -> None:
        await self._disconnect.wait()

    def until_closing(self, callback: Callable[[], None]) -> AbstractContextManager[None]:
        """Call `callback` if the client disconnects while the block runs."""
        return self._disconnect.call(callback)
