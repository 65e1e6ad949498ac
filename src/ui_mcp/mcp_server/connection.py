"""One client connection: routing, batches, cancellation."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from secrets import token_hex
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.runner import ServerRunner
from mcp.shared.dispatcher import CallOptions, coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import InboundLadderRejection, InboundModernRoute, classify_inbound_request

from ui_mcp.jsonrpc import messages
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server import results
from ui_mcp.mcp_server.notifications import NotificationQueue
from ui_mcp.mcp_server.request_context import ClientRequests, DisconnectSignal, RequestContext, SendMessage
from ui_mcp.mcp_server.server import McpServer

OLDEST_VERSION = "2024-11-05"


class ClientConnection:
    """Handles the messages of one connection in both eras, concurrently.

    The transport owns the tasks: it awaits `answer` for each request and sends the messages of `queue`.
    """

    def __init__(
        self, service: McpServer, *, principal: str = "local", session_id: str | None = None, connection: str = ""
    ) -> None:
        self.service = service
        self.principal = principal
        self.connection = connection or f"session:{session_id or token_hex(16)}"
        self.queue = service.subscriptions.connect()
        self.disconnect = DisconnectSignal()
        self._client_requests = ClientRequests()
        self._in_flight: dict[messages.RequestId, anyio.CancelScope] = {}
        self._connection = Connection.for_loop(_Unsolicited(self.queue, self._client_requests), session_id=session_id)

    @cached_property
    def _handshake(self) -> ServerRunner[JsonObject]:
        # Created with the first message: instructions may depend on sources that load while the client connects.
        return ServerRunner(self.service.server, self._connection, {}, init_options=self.service.options())

    @property
    def version(self) -> str:
        """The protocol version negotiated in the handshake."""
        return self._connection.protocol_version

    async def answer(self, message: JsonObject, send: SendMessage) -> JsonObject | None:
        """Return the response to a request, or None if the client cancelled it."""
        key = coerce_request_id(message["id"])
        with anyio.CancelScope() as scope:
            self._in_flight[key] = scope
            try:
                return await self._result(message, send)
            finally:
                # A client may reuse an id while the first request with it still runs.
                if self._in_flight.get(key) is scope:
                    del self._in_flight[key]
        return None

    async def on_notification(self, message: JsonObject) -> None:
        method, params = message["method"], message.get("params")
        if method == "notifications/cancelled":
            self._cancel((params or {}).get("requestId"))
            return
        await self._handshake.on_notify(self._request_context(message, _discard), method, params)
        if method == "notifications/initialized":
            self.service.subscriptions.on_initialized(self.queue)

    def on_response(self, message: JsonObject) -> None:
        """Pass on the client's response to one of our requests."""
        self._client_requests.resolve(message)

    def close(self) -> None:
        """Cancel everything in progress; the connection is closed."""
        self._client_requests.cancel_all()
        self.disconnect.set()
        self.service.subscriptions.disconnect(self.queue)
        for scope in tuple(self._in_flight.values()):
            scope.cancel()

    async def _result(self, message: JsonObject, send: SendMessage) -> JsonObject:
        request_id: messages.RequestId = message["id"]
        try:
            if messages.is_modern(message):
                request = self._request_context(message, send)
                return messages.result(
                    request_id, await modern_result(self.service, message, request, envelope_of(message))
                )
            self._require_initialized(message["method"])
            request = self._request_context(message, send, client_requests=self._client_requests)
            # Plain tool calls bypass the SDK's result model; see `McpServer.call_tool`.
            client = self._connection.client_params
            if client is not None and self.service.is_plain_call(message):
                return messages.result(request_id, await self.service.call_tool(request, client, message["params"]))
            params = _with_version(message) if message["method"] == "initialize" else message.get("params")
            return messages.result(request_id, await self._handshake.on_request(request, message["method"], params))
        except Exception as error:  # noqa: BLE001 - the boundary where every failure becomes an answer
            return results.failure(request_id, error)

    def _require_initialized(self, method: str) -> None:
        known = self.service.server.get_request_handler(method) is not None
        if known and method != "ping" and not self._connection.initialize_accepted:
            raise MCPError(
                messages.INVALID_REQUEST,
                f"Send initialize before {method}, or the envelope of a newer protocol with it",
            )

    def _request_context(
        self, message: JsonObject, send: SendMessage, client_requests: ClientRequests | None = None
    ) -> RequestContext:
        return RequestContext(
            message,
            send,
            principal=self.principal,
            connection=self.connection,
            disconnect=self.disconnect,
            queue=self.queue,
            client_requests=client_requests,
        )

    def _cancel(self, request_id: object) -> None:
        scope = self._in_flight.get(coerce_request_id(request_id)) if isinstance(request_id, str | int) else None
        if scope is not None:
            scope.cancel()


def envelope_of(message: JsonObject, headers: Mapping[str, str] | None = None) -> InboundModernRoute:
    """Parse the envelope of a modern request; `headers`, if given, must agree with it.

    Raises:
        MCPError: it is incomplete, contradicts the headers, or names another version.
    """
    route = classify_inbound_request(message, headers=headers)
    if isinstance(route, InboundLadderRejection):
        raise MCPError(route.code, route.message, route.data)
    return route


async def modern_result(
    service: McpServer, message: JsonObject, request: RequestContext, envelope: InboundModernRoute
) -> JsonObject:
    """Return the result of a self-contained request of the modern era."""
    connection = Connection.from_envelope(envelope.protocol_version, envelope.client_info, envelope.client_capabilities)
    runner = ServerRunner(service.server, connection, {})
    return await runner.on_request(request, message["method"], message.get("params"))


@dataclass(frozen=True, slots=True)
class _Unsolicited:
    """The SDK's outbound channel for messages that belong to no request."""

    queue: NotificationQueue
    client_requests: ClientRequests

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        self.queue.put(messages.notification(method, None if params is None else dict(params)))

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        async def post(message: JsonObject) -> None:
            self.queue.put(message)

        return await self.client_requests.ask(
            method, None if params is None else dict(params), post, (opts or {}).get("timeout")
        )


def _with_version(message: JsonObject) -> JsonObject:
    # Clients that send no version are treated as the oldest ones.
    return {"protocolVersion": OLDEST_VERSION, **message.get("params", {})}


async def _discard(message: JsonObject) -> None:
    return None


BATCH_VERSION = "2025-03-26"
MAX_BATCH = 1000


async def answer_batch(client: ClientConnection, messages: list[Json], send: SendMessage) -> Json | None:
    """Return the responses to a batch as one array, or None if it held no requests."""
    if client.version != BATCH_VERSION or not 0 < len(messages) <= MAX_BATCH:
        return rpc.error(None, rpc.INVALID_REQUEST, "Batches are not part of this protocol revision")
    answers: list[JsonObject] = []

    async def one(message: JsonObject) -> None:
        answer = await client.answer(message, send)
        if answer is not None:
            answers.append(answer)

    async with anyio.create_task_group() as tasks:
        for message in messages:
            match rpc.kind_of(message):
                # The modern era has no batches.
                case "request" if rpc.is_modern(message):
                    answers.append(rpc.invalid(message))
                case "request":
                    tasks.start_soon(one, message)
                case "notification":
                    await client.on_notification(message)
                case "response":
                    client.on_response(message)
                case _:
                    answers.append(rpc.invalid(message))
    return answers or None
