"""Transport over streamable HTTP and SSE, built on the SDK's client."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Self

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import JSONRPCResponse
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.transport import (
    _KINDS,
    CLIENT_INFO,
    UPDATED,
    HttpUrl,
    NotificationHandlers,
    RequestTimeout,
    ServerInfo,
    SseUrl,
    Transport,
    _client,
)
from ui_mcp.toolkit.announcements import ListKind

RETRY_SECONDS = 5.0
_log = logger("mcp.client")


class SubscriptionStream:
    """Keeps the subscription stream of a modern server open."""

    def __init__(self, notified: Callable[[str, JsonObject], None]) -> None:
        self._notified = notified
        self._wanted: dict[str, None] = {}
        self._changed = anyio.Event()

    def subscribe(self, uri: str) -> None:
        self._wanted[uri] = None
        self._changed.set()

    def unsubscribe(self, uri: str) -> None:
        self._wanted.pop(uri, None)
        self._changed.set()

    async def run(self, client: Client) -> None:
        """Relay notifications until cancelled; reopen the stream when the subscriptions change."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        while True:
            self._changed = anyio.Event()
            wanted: dict[str, Any] = {f"{kind}_list_changed": True for kind in _KINDS if _announces(client, kind)}
            if self._wanted or wanted:
                await self._one_stream(client, wanted)
            else:
                await self._changed.wait()

    async def _one_stream(self, client: Client, wanted: dict[str, Any]) -> None:
        try:
            async with (
                client.listen(**wanted, resource_subscriptions=list(self._wanted)) as subscription,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._relay, subscription)
                await self._changed.wait()
                tasks.cancel_scope.cancel()
        except* (MCPError, SubscriptionLost, TimeoutError) as lost:
            _log.info("A subscription stream ended: %s", lost.exceptions[0])
            with anyio.move_on_after(RETRY_SECONDS):
                await self._changed.wait()

    async def _relay(self, subscription: Any) -> None:
        async for event in subscription:
            self._dispatch(event)
        raise SubscriptionLost("the server closed the stream")

    def _dispatch(self, event: ServerEvent) -> None:
        match event:
            case ToolsListChanged():
                self._notified("notifications/tools/list_changed", {})
            case PromptsListChanged():
                self._notified("notifications/prompts/list_changed", {})
            case ResourcesListChanged():
                self._notified("notifications/resources/list_changed", {})
            case ResourceUpdated(uri):
                self._notified(UPDATED, {"uri": uri})


def _announces(client: Client, kind: ListKind) -> bool:
    capability = getattr(client.server_capabilities, kind)
    return capability is not None and bool(capability.list_changed)


_LISTS = ("tools", "resources", "resourceTemplates", "prompts")

_HIDDEN_LISTS = "ui-mcp/lists"
"""The key in `_meta`, which the SDK does not validate."""


def hide_lists(message: Json) -> Json:
    """Return a response with its lists moved into `_meta`; other messages unchanged."""
    # The SDK validates a list as a whole: one malformed entry would lose all the others.
    if not isinstance(message, SessionMessage) or not isinstance(message.message, JSONRPCResponse):
        return message
    result = message.message.result
    lists = {key: result[key] for key in _LISTS if key in result}
    meta: Json = result.get("_meta") or {}
    if not lists or not isinstance(meta, dict):
        return message
    emptied = {**result, **{key: [] for key in lists}, "_meta": {**meta, _HIDDEN_LISTS: lists}}
    return replace(message, message=message.message.model_copy(update={"result": emptied}))


def restore_lists(result: JsonObject) -> JsonObject:
    """Return a result with the lists moved back from `_meta`."""
    meta: Json = result.get("_meta")
    lists: Json = meta.get(_HIDDEN_LISTS) if isinstance(meta, dict) else None
    if not isinstance(lists, dict):
        return result
    kept = {key: value for key, value in meta.items() if key != _HIDDEN_LISTS}
    plain = {key: value for key, value in result.items() if key != "_meta"}
    return {**plain, **{key: lists[key] for key in _LISTS if key in lists}, **({"_meta": kept} if kept else {})}


CONNECT_SECONDS = 30.0
READ_SECONDS = 300.0


@asynccontextmanager
async def streams(address: HttpUrl | SseUrl, lost: anyio.Event) -> AsyncIterator[tuple[Any, Any]]:
    """Open the message streams; `lost` is set when the server closes them."""
    async with AsyncExitStack() as stack:
        match address:
            case HttpUrl(url, headers):
                client = _client(url, headers, timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS))
                source = streamable_http_client(url, http_client=await stack.enter_async_context(client))
            case SseUrl(url, headers):
                source = sse_client(
                    url,
                    timeout=CONNECT_SECONDS,
                    sse_read_timeout=READ_SECONDS,
                    httpx_client_factory=partial(_client, url, headers),
                )
        incoming, outgoing = await stack.enter_async_context(source)
        yield _WatchedStream(incoming, lost), outgoing


class _WatchedStream:
    """Read stream that sets `lost` at its end and hides lists from the SDK; delegates everything else."""

    def __init__(self, stream: Any, lost: anyio.Event) -> None:
        self._stream = stream
        self._lost = lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return hide_lists(await self._stream.__anext__())
        except (StopAsyncIteration, anyio.ClosedResourceError):
            self._lost.set()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> Any:
        return await self._stream.__aexit__(*problem)


# Results stay plain dicts: the SDK's models would drop unknown fields.
_RAW: TypeAdapter[Any] = TypeAdapter(dict[str, Any])


@asynccontextmanager
async def http_transport(
    address: HttpUrl | SseUrl, handlers: NotificationHandlers, *, legacy: bool
) -> AsyncIterator[Transport]:
    """Connect for as long as the block runs."""
    lost = anyio.Event()
    subscriptions = SubscriptionStream(handlers.notified)
    client = Client(
        streams(address, lost),
        mode="legacy" if legacy else "auto",
        message_handler=_notified(handlers),
        cache=None,
        client_info=types.Implementation.model_validate(CLIENT_INFO),
        list_roots_callback=_request_callback(handlers, "roots/list", types.ListRootsResult)
        if _has_roots(handlers)
        else None,
        sampling_callback=_request_callback(handlers, "sampling/createMessage", types.CreateMessageResult),
        elicitation_callback=_request_callback(handlers, "elicitation/create", types.ElicitResult),
    )
    async with client, anyio.create_task_group() as tasks:
        tasks.start_soon(subscriptions.run, client)
        yield HttpTransport(client, subscriptions, lost)
        tasks.cancel_scope.cancel()


class HttpTransport:
    """Sends requests through the SDK's session and returns raw results."""

    def __init__(self, client: Client, subscriptions: SubscriptionStream, lost: anyio.Event) -> None:
        self.lost = lost
        self.server_info = ServerInfo(
            modern=client.protocol_version in MODERN_PROTOCOL_VERSIONS,
            name=client.server_info.name if client.server_info else "",
            instructions=client.instructions,
            capabilities=client.server_capabilities.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
        self._client = client
        self._subscriptions = subscriptions

    async def request(
        self, method: str, params: JsonObject, request_timeout: RequestTimeout | None = None
    ) -> JsonObject:
        request = types.client_request_adapter.validate_python({"method": method, "params": params})
        if request_timeout is None:
            return await self._send(request, None)
        with anyio.CancelScope(deadline=anyio.current_time() + request_timeout.seconds) as limit:

            async def progress(done: float, total: float | None, message: str | None) -> None:
                limit.deadline = anyio.current_time() + request_timeout.seconds
                await request_timeout.progress(done, total, message)

            return await self._send(request, progress)
        raise UpstreamError(f"no answer within {request_timeout.seconds:g} s", silent=True)

    async def subscribe(self, uri: str) -> None:
        if self.server_info.modern:
            self._subscriptions.subscribe(uri)
        else:
            await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        if self.server_info.modern:
            self._subscriptions.unsubscribe(uri)
        else:
            await self.request("resources/unsubscribe", {"uri": uri})

    async def _send(self, request: Any, progress: Any) -> JsonObject:
        try:
            body: JsonObject = await self._client.session.send_request(request, _RAW, progress_callback=progress)
            return restore_lists(body)
        except MCPError as error:
            raise UpstreamError(error.message, rpc_code=error.code, data=error.data) from error
        except (ValidationError, RuntimeError, OSError) as error:
            first = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise UpstreamError(f"The server's answer could not be read: {first}") from error


def _has_roots(handlers: NotificationHandlers) -> bool:
    return "roots" in handlers.capabilities


def _notified(handlers: NotificationHandlers) -> Any:
    async def take(message: Any) -> None:
        # Requests of the server do not arrive here: they have callbacks of their own.
        if isinstance(message, types.Notification):
            data = message.model_dump(by_alias=True, mode="json", exclude_none=True)
            handlers.notified(data["method"], data.get("params") or {})

    return take


def _request_callback(handlers: NotificationHandlers, method: str, result: Any) -> Any:
    async def ask(_context: Any, params: Any = None) -> Any:
        given = params.model_dump(by_alias=True, mode="json", exclude_none=True) if params is not None else {}
        try:
            return result.model_validate(await handlers.asked(method, given))
        except UiMcpError as error:
            code = error.details.get("rpc_code")
            return types.ErrorData(code=code if isinstance(code, int) else -32601, message=error.message)
        except ValidationError:
            return types.ErrorData(code=-32603, message="The client's answer could not be read")

    return ask
