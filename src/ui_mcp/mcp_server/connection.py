"""One client connection: routing, batches, cancellation."""

from collections.abc import Coroutine
from secrets import token_hex
from typing import Any

import anyio

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import VALUES, logger
from ui_mcp.mcp_server import results
from ui_mcp.mcp_server.client_requests import ClientRequests, SendMessage
from ui_mcp.mcp_server.params import check_params
from ui_mcp.mcp_server.request import Origin, Request
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.versions import OLDEST, Client, client_of, envelope_of, modern_client, negotiated

_log = logger("mcp")
BATCH_VERSION = "2025-03-26"
MAX_BATCH = 1000
Answering = Coroutine[Any, Any, Json]
"""The work of answering a message; its result is None if there is nothing to answer, as after a cancellation."""


@dataclass(slots=True, eq=False)
class _InFlight:
    """A request that was received; it may be cancelled before its task has started."""

    scope: anyio.CancelScope | None = None
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True
        if self.scope is not None:
            self.scope.cancel()


_LOGGED = frozenset({"method", "id", "name", "uri", "protocolVersion", "level"})


def _outline(value: Json, depth: int = 0) -> Json:
    """Return a message for the log: its shape, with the values of few fields; all others may be secret."""
    if not isinstance(value, dict):
        return type(value).__name__
    shown = _LOGGED if depth < 2 else frozenset[str]()  # the message and its params, but not a call's arguments
    return {
        key: one if key in shown and isinstance(one, str | int) else _outline(one, depth + 1)
        for key, one in value.items()
    }


class ClientConnection:
    """Handles the messages of one connection in both eras, concurrently.

    The transport owns the tasks: it calls `receive` for each message in order, awaits what that returns, and sends
    the messages of `queue`.
    """

    def __init__(
        self,
        service: McpServer,
        *,
        principal: str = "local",
        session_id: str | None = None,
        connection: str = "",
        client: Client | None = None,
    ) -> None:
        self.service = service
        self.principal = principal
        self.client = client
        """What the client said in its handshake; None before it."""
        self.queue = service.subscriptions.connect()
        self._closing = anyio.Event()
        self._client_requests = ClientRequests()
        name = connection or f"session:{session_id or token_hex(16)}"
        self._modern = Origin(principal, name, self._closing, self.queue)
        self._handshake = Origin(principal, name, self._closing, self.queue, self._client_requests, self._subscribe)
        self._in_flight: dict[rpc.RequestId, _InFlight] = {}

    def receive(self, message: Json, send: SendMessage, scope: anyio.CancelScope | None = None) -> Answering | None:
        """Take a message and return the work of answering it; None if it needs no answer.

        Whatever later messages depend on has happened on return: the handshake, and what can be cancelled. A `scope`
        in which the work will be awaited saves it one of its own; a client's cancellation cancels it.
        """
        kind = rpc.kind_of(message)
        _log.debug("%s %s", kind, message.get("method", "") if isinstance(message, dict) else "")
        if _log.isEnabledFor(VALUES):
            _log.log(VALUES, "%s", _outline(message))
        match kind:
            case "request":
                return self.answer(message, send, scope)
            case "notification":
                self._on_notification(message)
            case "response":
                self._client_requests.resolve(message)
            case _ if isinstance(message, list):
                return self._batch(message, send)
            case _:
                return _ready(rpc.invalid(message))
        return None

    def answer(self, message: JsonObject, send: SendMessage, scope: anyio.CancelScope | None = None) -> Answering:
        """Take a request and return the work of answering it."""
        if message["method"] == "initialize":
            return _ready(self._initialize(message))
        running = self._in_flight[rpc.correlated(message["id"])] = _InFlight(scope)
        work = self._answered(message, send, running)
        return work if scope is not None else _scoped(work, running)

    def _subscribe(self, uri: str, wanted: bool) -> bool:
        return self.service.subscriptions.set(self.queue, uri, wanted=wanted)

    def begin_closing(self) -> None:
        """Let blocked calls and streams end with what they have: no more messages will come."""
        self._closing.set()
        self.service.subscriptions.end_streams(self._closing)

    def close(self) -> None:
        """Cancel everything in progress; the connection is closed."""
        self._client_requests.cancel_all()
        self.begin_closing()
        self.service.subscriptions.disconnect(self.queue)
        for running in tuple(self._in_flight.values()):
            running.cancel()

    async def _answered(self, message: JsonObject, send: SendMessage, running: _InFlight) -> Json:
        request_id: rpc.RequestId = message["id"]
        answer: JsonObject | None = None
        try:
            if not running.cancelled:
                answer = rpc.result(request_id, await self.service.result(self._request(message, send)))
        except Exception as error:  # noqa: BLE001 - the boundary where every failure becomes an answer
            answer = results.failure(request_id, error)
        finally:
            # A client may reuse an id while the first request with it still runs.
            key = rpc.correlated(request_id)
            if self._in_flight.get(key) is running:
                del self._in_flight[key]
        return None if running.cancelled else answer

    def _request(self, message: JsonObject, send: SendMessage) -> Request:
        if rpc.is_modern(message):
            return Request(message, modern_client(envelope_of(message)), send, self._modern)
        method = message["method"]
        if self.client is None and method != "ping" and self.service.serves(method, "handshake"):
            raise rpc.RpcError(
                rpc.INVALID_REQUEST, f"Send initialize before {method}, or the envelope of a newer protocol with it"
            )
        return Request(message, self.client or Client(OLDEST), send, self._handshake)

    def _initialize(self, message: JsonObject) -> JsonObject:
        # Clients that send no version are treated as the oldest ones.
        params = {"protocolVersion": OLDEST, **(message.get("params") or {})}
        try:
            check_params("initialize", params, "handshake")
            version = negotiated(params["protocolVersion"])
            welcome = self.service.lifecycle.initialize(version)
        except Exception as error:  # noqa: BLE001 - the boundary where every failure becomes an answer
            return results.failure(message["id"], error)
        self.client = client_of(version, params["clientInfo"], params["capabilities"])
        _log.info("client %s connected, protocol %s", self.client.name or "without a name", version)
        return rpc.result(message["id"], welcome)

    def _on_notification(self, message: JsonObject) -> None:
        match message["method"]:
            case "notifications/cancelled":
                self._cancel((message.get("params") or {}).get("requestId"))
            case "notifications/initialized":
                self.service.subscriptions.on_initialized(self.queue)

    def _cancel(self, request_id: Json) -> None:
        running = self._in_flight.get(rpc.correlated(request_id)) if rpc.is_id(request_id) else None
        if running is not None:
            running.cancel()

    def _batch(self, messages: list[Json], send: SendMessage) -> Answering:
        agreed = self.client is not None and self.client.version == BATCH_VERSION
        if not agreed or not 0 < len(messages) <= MAX_BATCH:
            return _ready(rpc.error(None, rpc.INVALID_REQUEST, "Batches are not part of this protocol revision"))
        # Neither nested batches nor requests of the modern era may be in a batch.
        works = [
            _ready(rpc.invalid(one))
            if isinstance(one, list) or (isinstance(one, dict) and rpc.is_modern(one))
            else self.receive(one, send)
            for one in messages
        ]
        return _all_answered([work for work in works if work is not None])


async def _scoped(work: Answering, running: _InFlight) -> Json:
    with anyio.CancelScope() as running.scope:
        return await work
    return None  # cancelled


async def _all_answered(works: list[Answering]) -> Json:
    """Return the answers as one array, or None if there are none."""
    answers: list[Json] = []

    async def one(work: Answering) -> None:
        answer = await work
        if answer is not None:
            answers.append(answer)

    async with anyio.create_task_group() as tasks:
        for work in works:
            tasks.start_soon(one, work)
    return answers or None


async def _ready(answer: JsonObject) -> Json:
    return answer
