"""The client side of a conversation in JSON-RPC, whatever carries it: requests, responses, questions, subscriptions."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_client.transport import NotificationHandlers, RequestTimeout, ServerInfo

METHOD_NOT_FOUND = -32601
LONGEST_ID = 18
"""Digits of our request ids; some servers return them as text."""


class Wire(Protocol):
    """Carries messages to the server; what the server sends goes to `Session.receive`."""

    closing_cancels: bool
    """Whether a request of the modern era is cancelled by closing its stream, not by a notification."""

    def send(self, message: JsonObject) -> None:
        """Send a message without waiting.

        Raises:
            OSError: the connection is closed.
        """
        ...

    def abandon(self, number: int) -> None:
        """Stop to read the response of a request."""
        ...

    async def flush(self) -> None:
        """Wait until what was sent has arrived, as far as the wire knows."""
        ...


class Session:
    """One conversation with a server; `lost` is set when the connection has ended."""

    def __init__(self, wire: Wire, handlers: NotificationHandlers, tasks: TaskGroup) -> None:
        self.server_info = ServerInfo(modern=False, name="", instructions=None, capabilities={})
        self.lost = anyio.Event()
        self.envelope: JsonObject = {}
        """The `_meta` fields of every modern-era request."""
        self.version = ""
        """The protocol version agreed on in the handshake era."""
        self.wanted: dict[str, None] = {}
        """URIs subscribed to (modern era)."""
        self.wanted_changed = anyio.Event()
        self.header_parameters: dict[str, Mapping[tuple[str, ...], str]] = {}
        """By tool, the arguments that are sent as headers too, and the headers' names (modern era over HTTP)."""
        self.handlers = handlers
        self._wire = wire
        self._tasks = tasks
        self._waiting: dict[int, PendingRequest] = {}
        self._answering: dict[messages.RequestId, anyio.CancelScope] = {}
        self._ids = count(1)

    async def request(
        self, method: str, params: JsonObject, request_timeout: RequestTimeout | None = None
    ) -> JsonObject:
        """Send a request and return its result unchanged.

        Raises:
            UpstreamError: the server refused, disconnected or timed out.
        """
        if self.lost.is_set():
            raise UpstreamError("the server went away")
        number = next(self._ids)
        pending = self._waiting[number] = PendingRequest(request_timeout, lambda: bool(self._answering))
        meta = {**self.envelope, "progressToken": number} if request_timeout else self.envelope
        if meta:
            params = {**params, messages.META: {**params.get(messages.META, {}), **meta}}
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await pending.result()
        except UpstreamError as error:
            if error.details.get("silent"):
                self._cancel(number, "it took too long")
            raise
        finally:
            self._waiting.pop(number, None)
            if not pending.is_settled:
                self._cancel(number, "the caller no longer waits")

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        self._send(messages.notification(method, params))

    async def flush(self) -> None:
        """Wait until the notifications sent so far have arrived."""
        await self._wire.flush()

    async def subscribe(self, uri: str) -> None:
        if self.server_info.modern:
            self.wanted[uri] = None
            self.wanted_changed.set()
        else:
            await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        if self.server_info.modern:
            self.wanted.pop(uri, None)
            self.wanted_changed.set()
        else:
            await self.request("resources/unsubscribe", {"uri": uri})

    def receive(self, data: bytes | str, answers: int | None = None) -> None:
        """Handle one message, or a batch of them; `answers` is the request on whose stream a response came.

        Raises:
            ValueError: not JSON.
        """
        message = messages.decode(data.encode("utf-8", "replace") if isinstance(data, str) else data)
        for one in message if isinstance(message, list) else (message,):
            if isinstance(one, dict):
                self._route(one, answers)

    def is_waiting(self, number: int) -> bool:
        """Return whether a request is still without a response."""
        pending = self._waiting.get(number)
        return pending is not None and not pending.is_settled

    def fail(self, number: int, error: UpstreamError) -> None:
        """End a request whose response cannot come."""
        pending = self._waiting.get(number)
        if pending is not None:
            pending.set_result(error)

    def end(self) -> None:
        """Fail all pending requests: the connection is closed."""
        self.lost.set()
        for pending in tuple(self._waiting.values()):
            pending.set_result(UpstreamError("the server went away"))

    def _route(self, message: JsonObject, answers: int | None) -> None:
        method = message.get("method")
        # A message with a method is never a response, whatever other fields it has.
        if not isinstance(method, str):
            self._answered(message, answers)
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if messages.is_id(message.get("id")):
            self._tasks.start_soon(self._answer, message["id"], method, params)
        elif method == "notifications/progress":
            pending = self._of(params.get("progressToken"))
            if pending is not None:
                pending.on_progress(params)
        elif method == "notifications/cancelled":
            self._revoke(params.get("requestId"))
        else:
            self.handlers.notified(method, params)

    def _answered(self, message: JsonObject, answers: int | None) -> None:
        # Errors about what could not be read at all have the id null.
        pending = self._of(message.get("id")) or self._of(answers)
        if pending is None:
            return
        problem, result = message.get("error"), message.get("result")
        if isinstance(problem, dict):
            text = str(problem.get("message") or "the server refused")
            pending.set_result(UpstreamError(text, rpc_code=problem.get("code"), data=problem.get("data")))
        elif isinstance(result, dict):
            pending.set_result(result)
        else:
            pending.set_result(UpstreamError("The server's answer could not be read: it has no result", rpc_code=0))

    def _of(self, number: Json) -> "PendingRequest | None":
        if isinstance(number, str) and number.isdecimal() and len(number) <= LONGEST_ID:
            number = int(number)
        return self._waiting.get(number) if isinstance(number, int) else None

    async def _answer(self, request_id: messages.RequestId, method: str, params: JsonObject) -> None:
        with anyio.CancelScope() as scope:
            self._answering[request_id] = scope
            try:
                self._send(messages.result(request_id, await self.handlers.asked(method, params)))
            except UiMcpError as error:
                code = error.details.get("rpc_code")
                self._send(
                    messages.error(request_id, code if isinstance(code, int) else METHOD_NOT_FOUND, error.message)
                )
            finally:
                self._answering.pop(request_id, None)
                for pending in self._waiting.values():
                    pending.restart_timeout()

    def _revoke(self, request_id: Json) -> None:
        scope = self._answering.get(request_id) if messages.is_id(request_id) else None
        if scope is not None:
            scope.cancel()

    def _cancel(self, number: int, why: str) -> None:
        self._wire.abandon(number)
        if not (self.envelope and self._wire.closing_cancels):
            self.notify("notifications/cancelled", {"requestId": number, "reason": why})

    def _send(self, message: JsonObject) -> None:
        try:
            self._wire.send(message)
        except OSError:
            self.end()


class PendingRequest:
    """A request without a response yet; the sender awaits it, the reader of the connection wakes it."""

    __slots__ = ("_future", "_is_paused", "_loop", "_news", "_outcome", "_quiet_until", "_timeout", "_timer")

    def __init__(self, timeout: RequestTimeout | None, is_paused: Callable[[], bool] = lambda: False) -> None:
        """Wait for at most `timeout`, which does not pass while `is_paused`: the server itself waits for an answer."""
        self._is_paused = is_paused
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self._news: deque[JsonObject] = deque()
        self._outcome: JsonObject | UpstreamError | None = None
        self._timeout = timeout
        self._quiet_until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        if timeout is not None:
            self._quiet_until = self._loop.time() + timeout.seconds
            self._timer = self._loop.call_later(timeout.seconds, self._check)

    @property
    def is_settled(self) -> bool:
        return self._outcome is not None

    def set_result(self, outcome: JsonObject | UpstreamError) -> None:
        """Store the response; only the first one counts."""
        if self._outcome is None:
            self._outcome = outcome
            self._wake()

    def on_progress(self, params: JsonObject) -> None:
        if self._timeout is not None:
            self.restart_timeout()
            self._news.append(params)
            self._wake()

    def restart_timeout(self) -> None:
        """Let the time without an answer begin now."""
        if self._timeout is not None:
            self._quiet_until = self._loop.time() + self._timeout.seconds

    async def result(self) -> JsonObject:
        """Wait for the response and return its result.

        Raises:
            UpstreamError: the server refused, disconnected or timed out.
        """
        try:
            while True:
                await self._future
                while self._news and self._timeout is not None:
                    params = self._news.popleft()
                    await self._timeout.progress(*_progress(params))
                if self._outcome is not None:
                    break
                self._future = self._loop.create_future()
        finally:
            if self._timer is not None:
                self._timer.cancel()
        if isinstance(self._outcome, UpstreamError):
            raise self._outcome
        return self._outcome

    def _wake(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    def _check(self) -> None:
        # Progress only moves `_quiet_until`: restarting the timer for each notification would cost more.
        if self._is_paused():
            self.restart_timeout()
        left = self._quiet_until - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._check)
        elif self._timeout is not None:
            self.set_result(UpstreamError(f"no answer within {self._timeout.seconds:g} s", silent=True))


def _progress(params: JsonObject) -> tuple[float, float | None, str | None]:
    """Return done, total and message of a progress notification; values of a wrong type are dropped."""
    done, total, message = params.get("progress"), params.get("total"), params.get("message")
    return (
        done if isinstance(done, int | float) else 0,
        total if isinstance(total, int | float) else None,
        message if isinstance(message, str) else None,
    )
