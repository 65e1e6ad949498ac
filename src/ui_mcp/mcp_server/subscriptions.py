"""Which client receives which announcement, in both protocol eras."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.notifications import CHANNEL, NotificationQueue
from ui_mcp.mcp_server.request_context import RequestContext
from ui_mcp.toolkit.announcements import Announcement

MAX_STREAMS = 1024
Context = ServerRequestContext[JsonObject, RequestContext]


class Subscriptions:
    """The notification queues of all clients of one server."""

    def __init__(self, definition: ServerDefinition) -> None:
        self._definition = definition
        self._queues: dict[int, NotificationQueue] = {}
        self._interests: dict[int, set[str]] = {}
        self._streams = 0
        self._stop = definition.announcements.listen(self._publish)

    def connect(self) -> NotificationQueue:
        """Open the queue of a handshake connection; it receives list changes only after `on_initialized`."""
        return self._open()

    def on_initialized(self, queue: NotificationQueue) -> None:
        """Start sending list changes and channel events: the client accepts notifications now."""
        channel = {CHANNEL} & set(self._definition.experimental)
        queue.set_kinds({*self._definition.list_changed, *channel})

    def disconnect(self, queue: NotificationQueue) -> None:
        queue.close()
        self._queues.pop(id(queue), None)
        for uri in self._interests.pop(id(queue), ()):
            self._definition.announcements.interest(uri, -1)

    def close(self) -> None:
        """End every subscription stream with its final result."""
        self._stop()
        for queue in list(self._queues.values()):
            queue.close()

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> JsonObject:
        """Handle `resources/subscribe`: idempotent, any URI."""
        if not self._subscribe(request_context(ctx).queue, str(params.uri)):
            raise MCPError(rpc.INVALID_PARAMS, "Too many subscriptions on this connection")
        return {}

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> JsonObject:
        """Handle `resources/unsubscribe`: idempotent."""
        queue, uri = request_context(ctx).queue, str(params.uri)
        queue.unsubscribe(uri)
        held = self._interests.get(id(queue), set())
        if uri in held:
            held.discard(uri)
            self._definition.announcements.interest(uri, -1)
        return {}

    async def listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> JsonObject:
        """Handle `subscriptions/listen`: acknowledge, then forward notifications until either side ends the stream."""
        request = request_context(ctx)
        stamp: JsonObject = {rpc.SUBSCRIPTION_KEY: ctx.request_id}
        # Closing the queue ends the loop below, so that the stream still gets its final result.
        with self._stream(params.notifications) as queue, request.until_closing(queue.close):
            honoured = self._honoured(params.notifications)
            await request.notify(
                "notifications/subscriptions/acknowledged", {"notifications": honoured, rpc.META: stamp}
            )
            async for message in _messages(queue):
                body = message.get("params", {})
                await request.notify(message["method"], {**body, rpc.META: {**body.get(rpc.META, {}), **stamp}})
        return {"resultType": "complete", rpc.META: stamp}

    @contextmanager
    def _stream(self, wanted: SubscriptionFilter) -> Iterator[NotificationQueue]:
        if self._streams >= MAX_STREAMS:
            raise MCPError(rpc.INTERNAL_ERROR, f"At most {MAX_STREAMS} subscription streams are served")
        queue = self._open()
        queue.set_kinds(kind for kind in self._definition.list_changed if getattr(wanted, f"{kind}_list_changed"))
        accepted = [self._subscribe(queue, uri) for uri in wanted.resource_subscriptions or ()]
        self._streams += 1
        try:
            if not all(accepted):
                raise MCPError(rpc.INVALID_PARAMS, "Too many subscriptions on this stream")
            yield queue
        finally:
            self._streams -= 1
            self.disconnect(queue)

    def _honoured(self, wanted: SubscriptionFilter) -> JsonObject:
        kinds = [kind for kind in ("tools", "prompts", "resources") if kind in self._definition.list_changed]
        honoured: JsonObject = {f"{kind}ListChanged": True for kind in kinds if getattr(wanted, f"{kind}_list_changed")}
        if wanted.resource_subscriptions:
            honoured["resourceSubscriptions"] = list(wanted.resource_subscriptions)
        return honoured

    def _subscribe(self, queue: NotificationQueue, uri: str) -> bool:
        if not queue.subscribe(uri):
            return False
        held = self._interests.setdefault(id(queue), set())
        if uri not in held:
            held.add(uri)
            self._definition.announcements.interest(uri, 1)
        return True

    def _open(self) -> NotificationQueue:
        queue = NotificationQueue(self._definition.canonical)
        self._queues[id(queue)] = queue
        return queue

    def _publish(self, announcement: Announcement) -> bool:
        wanted = [queue.publish(announcement) for queue in list(self._queues.values())]
        return any(wanted)


async def _messages(queue: NotificationQueue) -> AsyncIterator[JsonObject]:
    while messages := await queue.get():
        for message in messages:
            yield message


def request_context(ctx: Context) -> RequestContext:
    """Return the context that our transports attach to every request."""
    if ctx.request is None:
        raise MCPError(rpc.INVALID_REQUEST, "This server answers on its own transports only")
    return ctx.request
