"""One request being handled: what the client sent, and the way back to it."""

from collections.abc import Callable

import anyio

from ui_mcp.errors import UpstreamError
from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.mcp_server.client_requests import ClientRequests, SendMessage
from ui_mcp.mcp_server.notifications import NotificationQueue
from ui_mcp.mcp_server.versions import Client
from ui_mcp.toolkit.announcements import LOG_LEVELS
from ui_mcp.toolkit.tool import Call, InputGiven


@dataclass(frozen=True, slots=True)
class Origin:
    """Where requests come from: the same for all of one connection and era."""

    principal: str
    connection: str
    """Distinguishes this client from others of the same principal."""
    closing: anyio.Event
    """Set when the client disconnects, so that blocked calls return what they have."""
    queue: NotificationQueue
    """Of the notifications that belong to no request of this client."""
    client_requests: ClientRequests | None = None
    """None if the client takes no requests: the modern era has none."""
    subscribe: Callable[[str, bool], bool] | None = None
    """Starts or ends the notifications about a URI; None in the modern era, which has streams for them."""


class Request:
    """A request on its way to a handler."""

    __slots__ = ("_send", "client", "id", "meta", "method", "origin", "params")

    def __init__(self, message: JsonObject, client: Client, send: SendMessage, origin: Origin) -> None:
        self.id: rpc.RequestId = message["id"]
        self.method: str = message["method"]
        self.params: JsonObject = message.get("params") or {}
        meta = self.params.get(rpc.META)
        self.meta: JsonObject = meta if isinstance(meta, dict) else {}
        self.client = client
        self.origin = origin
        self._send = send

    def call(self) -> Call:
        """Describe this request for tools, resources and prompts."""
        asks = self.origin.client_requests is not None
        return Call(
            principal=self.origin.principal,
            connection=self.origin.connection,
            era=self.client.era,
            client_name=self.client.name,
            capabilities=self.client.capabilities,
            progress=self.progress,
            closing=self.origin.closing.wait,
            meta=self.meta,
            ask_client=self._ask_client if asks else None,
            ask_user=self._ask_user if asks and _takes_forms(self.client) else None,
            subscribe=self.origin.subscribe,
            given=self._given(),
        )

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification that belongs to this request."""
        await self._send(rpc.notification(method, params))

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress if the client sent a progress token."""
        token = self.meta.get("progressToken")
        if token is not None:
            params: JsonObject = {"progressToken": token, "progress": done, "total": total, "message": message}
            sent = {key: value for key, value in params.items() if value is not None}
            await self.notify("notifications/progress", sent)

    async def log(self, level: str, data: Json) -> None:
        """Send a log message; in the modern era only if the request asked for this level."""
        wanted = self.meta.get(rpc.LOG_LEVEL_KEY) if self.client.era == "modern" else LOG_LEVELS[0]
        if wanted in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted):
            await self.notify("notifications/message", {"level": level, "data": data})

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request to the client while its own request is open.

        Raises:
            RpcError: the client refused, disconnected, timed out, or takes no requests.
        """
        if self.origin.client_requests is None:
            raise rpc.RpcError(rpc.INVALID_REQUEST, f"This client takes no requests such as {method}")
        return await self.origin.client_requests.ask(method, params, self._send)

    def _given(self) -> InputGiven | None:
        responses, state = self.params.get("inputResponses"), self.params.get("requestState")
        if self.client.era != "modern" or responses is None or state is None:
            return None
        return InputGiven(responses, state)

    async def _ask_user(self, message: str, form: JsonObject) -> JsonObject:
        try:
            return await self.ask("elicitation/create", {"message": message, "requestedSchema": form})
        except rpc.RpcError as error:
            raise UpstreamError(f"The client did not ask the question: {error.message}") from error

    async def _ask_client(self, method: str, params: JsonObject) -> JsonObject:
        try:
            return await self.ask(method, params)
        except rpc.RpcError as error:
            raise UpstreamError(error.message, rpc_code=error.code, data=error.data) from error


def _takes_forms(client: Client) -> bool:
    declared = client.capabilities.get("elicitation")
    return isinstance(declared, dict) and (declared.get("form") is not None or declared.get("url") is None)
