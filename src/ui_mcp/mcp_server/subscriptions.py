"""One announcement bus fanned out to the subscribers of both eras."""

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
    """Every mailbox of one face."""

    def __init__(self, face: ServerDefinition) -> None:
        self._face = face
        self._mailboxes: dict[int, NotificationQueue] = {}
        self._interests: dict[int, set[str]] = {}
        self._streams = 0
        self._stop = face.announcements.listen(self._offer)

    def connect(self) -> NotificationQueue:
        """Open the mailbox of a handshake connection; it gets listings once `greet` was called."""
        return self._open()

    def greet(self, mailbox: NotificationQueue) -> None:
        """The client is ready for unsolicited notifications."""
        channel = {CHANNEL} & set(self._face.experimental)
        mailbox.want_kinds({*self._face.list_changed, *channel})

    def disconnect(self, mailbox: NotificationQueue) -> None:
        """Forget a connection."""
        mailbox.close()
        self._mailboxes.pop(id(mailbox), None)
        for uri in self._interests.pop(id(mailbox), ()):
            self._face.announcements.interest(uri, -1)

    def close(self) -> None:
        """End every stream with its final result."""
        self._stop()
        for mailbox in list(self._mailboxes.values()):
            mailbox.close()

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> JsonObject:
        """`resources/subscribe`: idempotent, any URI."""
        if not self._want(request_context(ctx).mailbox, str(params.uri)):
            raise MCPError(rpc.INVALID_PARAMS, "Too many subscriptions on this connection")
        return {}

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> JsonObject:
        """`resources/unsubscribe`: idempotent."""
        mailbox, uri = request_context(ctx).mailbox, str(params.uri)
        mailbox.unsubscribe(uri)
        held = self._interests.get(id(mailbox), set())
        if uri in held:
            held.discard(uri)
            self._face.announcements.interest(uri, -1)
        return {}

    async def listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> JsonObject:
        """`subscriptions/listen`: acknowledge, then forward what was asked for until either side ends it."""
        exchange = request_context(ctx)
        stamp: JsonObject = {rpc.SUBSCRIPTION_KEY: ctx.request_id}
        with self._stream(params.notifications) as mailbox, exchange.until_closing(mailbox.close):
            honoured = self._honoured(params.notifications)
            await exchange.notify(
                "notifications/subscriptions/acknowledged", {"notifications": honoured, rpc.META: stamp}
            )
            async for message in _messages(mailbox):
                body = message.get("params", {})
                await exchange.notify(message["method"], {**body, rpc.META: {**body.get(rpc.META, {}), **stamp}})
        return {"resultType": "complete", rpc.META: stamp}

    @contextmanager
    def _stream(self, wanted: SubscriptionFilter) -> Iterator[NotificationQueue]:
        if self._streams >= MAX_STREAMS:
            raise MCPError(rpc.INTERNAL_ERROR, f"At most {MAX_STREAMS} subscription streams are served")
        mailbox = self._open()
        mailbox.want_kinds(kind for kind in self._face.list_changed if getattr(wanted, f"{kind}_list_changed"))
        accepted = [self._want(mailbox, uri) for uri in wanted.resource_subscriptions or ()]
        self._streams += 1
        try:
            if not all(accepted):
                raise MCPError(rpc.INVALID_PARAMS, "Too many subscriptions on this stream")
            yield mailbox
        finally:
            self._streams -= 1
            self.disconnect(mailbox)

    def _honoured(self, wanted: SubscriptionFilter) -> JsonObject:
        kinds = [kind for kind in ("tools", "prompts", "resources") if kind in self._face.list_changed]
        honoured: JsonObject = {f"{kind}ListChanged": True for kind in kinds if getattr(wanted, f"{kind}_list_changed")}
        if wanted.resource_subscriptions:
            honoured["resourceSubscriptions"] = list(wanted.resource_subscriptions)
        return honoured

    def _want(self, mailbox: NotificationQueue, uri: str) -> bool:
        if not mailbox.subscribe(uri):
            return False
        held = self._interests.setdefault(id(mailbox), set())
        if uri not in held:
            held.add(uri)
            self._face.announcements.interest(uri, 1)
        return True

    def _open(self) -> NotificationQueue:
        mailbox = NotificationQueue(self._face.canonical)
        self._mailboxes[id(mailbox)] = mailbox
        return mailbox

    def _offer(self, announcement: Announcement) -> bool:
        wanted = [mailbox.publish(announcement) for mailbox in list(self._mailboxes.values())]
        return any(wanted)


async def _messages(mailbox: NotificationQueue) -> AsyncIterator[JsonObject]:
    while messages := await mailbox.get():
        for message in messages:
            yield message


def request_context(ctx: Context) -> RequestContext:
    """Return what our transports attach to every request."""
    if ctx.request is None:
        raise MCPError(rpc.INVALID_REQUEST, "This server answers on its own transports only")
    return ctx.request
