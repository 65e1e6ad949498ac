"""Which client receives which announcement: `resources/subscribe`, `resources/unsubscribe`, `subscriptions/listen`."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import Answer, ServerDefinition
from ui_mcp.mcp_server.notifications import CHANNEL, NotificationQueue
from ui_mcp.mcp_server.request import Request
from ui_mcp.toolkit.announcements import Announcement

MAX_STREAMS = 1024
MAX_TASKS = 1000


class Subscriptions:
    """The notification queues of all clients of one server."""

    def __init__(self, definition: ServerDefinition, answer: Answer) -> None:
        self._definition = definition
        self._answer = answer
        self._queues: dict[NotificationQueue, anyio.Event | None] = {}
        """Each with the event that its client disconnects, if it is a stream of `subscriptions/listen`."""
        self._stop = definition.announcements.listen(self._publish)

    def connect(self, stream_of: anyio.Event | None = None) -> NotificationQueue:
        """Open the queue of a connection or stream; it receives list changes only after `set_kinds`."""
        queue = NotificationQueue(self._definition.canonical)
        self._queues[queue] = stream_of
        return queue

    def on_initialized(self, queue: NotificationQueue) -> None:
        """Start sending list changes and channel events: the client accepts notifications now."""
        channel = {CHANNEL} & set(self._definition.experimental)
        queue.set_kinds({*self._definition.list_changed, *channel})

    def disconnect(self, queue: NotificationQueue) -> None:
        queue.close()
        if queue in self._queues:
            del self._queues[queue]
            for uri in queue.uris:
                self._definition.announcements.interest(uri, -1)

    def end_streams(self, closing: anyio.Event) -> None:
        """End the streams of a client that disconnects, each with its final result."""
        for queue, event in self._queues.items():
            if event is closing:
                queue.close()

    def close(self) -> None:
        """End every subscription stream with its final result."""
        self._stop()
        for queue in self._queues:
            queue.close()

    async def subscribe(self, request: Request) -> JsonObject:
        """Handle `resources/subscribe`: idempotent, any URI."""
        if not self.set(request.origin.queue, request.params["uri"], wanted=True):
            raise rpc.RpcError(rpc.INVALID_PARAMS, "Too many subscriptions on this connection")
        return {}

    async def unsubscribe(self, request: Request) -> JsonObject:
        """Handle `resources/unsubscribe`: idempotent."""
        self.set(request.origin.queue, request.params["uri"], wanted=False)
        return {}

    def set(self, queue: NotificationQueue, uri: str, *, wanted: bool) -> bool:
        """Start or end the notifications about a URI; return False if the connection has too many."""
        if queue.is_subscribed(uri) == wanted:
            return True
        if not wanted:
            queue.unsubscribe(uri)
        elif not queue.subscribe(uri):
            return False
        self._definition.announcements.interest(uri, 1 if wanted else -1)
        return True

    async def listen(self, request: Request) -> JsonObject:
        """Handle `subscriptions/listen`: acknowledge, then forward notifications until either side ends the stream."""
        stamp: JsonObject = {rpc.SUBSCRIPTION_KEY: request.id}
        honoured = self._honoured(request.params["notifications"])
        with self._stream(honoured, request.origin.closing) as queue:
            honoured |= await self._watched_tasks(queue, request)
            acknowledged = {"notifications": honoured, rpc.META: stamp}
            await request.notify("notifications/subscriptions/acknowledged", acknowledged)
            while messages := await queue.get():
                for message in messages:
                    body = message.get("params", {})
                    await request.notify(message["method"], {**body, rpc.META: {**body.get(rpc.META, {}), **stamp}})
        return {rpc.META: stamp}

    def _honoured(self, wanted: JsonObject) -> JsonObject:
        kinds = {f"{kind}ListChanged" for kind in self._definition.list_changed}
        honoured: JsonObject = {key: True for key, value in wanted.items() if value is True and key in kinds}
        if wanted.get("resourceSubscriptions"):
            honoured["resourceSubscriptions"] = list(wanted["resourceSubscriptions"])
        return honoured

    async def _watched_tasks(self, queue: NotificationQueue, request: Request) -> JsonObject:
        ids, tasks = request.params["notifications"].get("taskIds"), self._definition.tasks
        if not ids or tasks is None:
            return {}
        return {"taskIds": list(await tasks.watch(queue, request, ids[:MAX_TASKS], self._answer))}

    @contextmanager
    def _stream(self, honoured: JsonObject, closing: anyio.Event) -> Iterator[NotificationQueue]:
        if sum(event is not None for event in self._queues.values()) >= MAX_STREAMS:
            raise rpc.RpcError(rpc.INTERNAL_ERROR, f"At most {MAX_STREAMS} subscription streams are served")
        queue = self.connect(closing)
        try:
            queue.set_kinds(key.removesuffix("ListChanged") for key in honoured)
            if not all(self.set(queue, uri, wanted=True) for uri in honoured.get("resourceSubscriptions", ())):
                raise rpc.RpcError(rpc.INVALID_PARAMS, "Too many subscriptions on this stream")
            if closing.is_set():
                queue.close()
            yield queue
        finally:
            self.disconnect(queue)
            if self._definition.tasks is not None:
                self._definition.tasks.unwatch(queue)

    def _publish(self, announcement: Announcement) -> bool:
        wanted = [queue.publish(announcement) for queue in list(self._queues)]
        return any(wanted)
