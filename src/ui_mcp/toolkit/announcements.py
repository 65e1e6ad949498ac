"""In-process publish/subscribe for changed resources and lists."""

from collections import Counter
from collections.abc import Callable
from typing import Literal

from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass

ListKind = Literal["tools", "resources", "prompts"]


@dataclass(frozen=True, slots=True)
class ResourceUpdated:
    """The resource at `uri` changed; `extra` holds further fields of the notification, such as a batch of messages."""

    uri: str
    extra: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ListChanged:
    kind: ListKind


@dataclass(frozen=True, slots=True)
class ChannelEvent:
    """An event for hosts that accept pushed events (experimental; handshake era only)."""

    content: str
    meta: dict[str, str]


LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A log message for clients."""

    level: str
    """One of `LOG_LEVELS`."""
    logger: str
    data: Json


Announcement = ResourceUpdated | ListChanged | ChannelEvent | LogMessage
Interest = Callable[[str, int], None]
"""Called with a URI and how many subscriptions to it began (positive) or ended (negative)."""


class Announcements:
    """Delivers announcements to the subscribers of both protocol eras.

    Not thread-safe: announce from the event loop's thread only.
    """

    def __init__(self) -> None:
        self._listeners: dict[int, Callable[[Announcement], object]] = {}
        self._next = 0
        self._interests: Counter[str] = Counter()
        self._watchers: list[Interest] = []

    def listen(self, listener: Callable[[Announcement], object]) -> Callable[[], None]:
        """Call `listener` for every announcement until the returned function is called.

        The listener returns whether a client is subscribed to what was announced.
        """
        key = self._next = self._next + 1
        self._listeners[key] = listener

        def stop() -> None:
            self._listeners.pop(key, None)

        return stop

    def interest(self, uri: str, change: int) -> None:
        """Record that a subscription to `uri` began (1) or ended (-1)."""
        self._interests[uri] += change
        for watcher in tuple(self._watchers):  # a copy: a watcher may remove itself
            watcher(uri, change)
        if not self._interests[uri]:
            del self._interests[uri]

    def watch_interest(self, watcher: Interest) -> Callable[[], None]:
        """Call `watcher` for existing subscriptions and every change of them, until the returned function is called."""
        self._watchers.append(watcher)
        for uri, count in tuple(self._interests.items()):
            watcher(uri, count)
        return lambda: self._watchers.remove(watcher)

    def resource_updated(self, uri: str, extra: JsonObject | None = None) -> None:
        self.tell(uri, extra)

    def tell(self, uri: str, extra: JsonObject | None = None) -> bool:
        """Announce that `uri` changed, and return whether any client is subscribed to it."""
        return self._announce(ResourceUpdated(uri, extra))

    def list_changed(self, kind: ListKind) -> None:
        self._announce(ListChanged(kind))

    def log_message(self, level: str, logger: str, data: Json) -> None:
        self._announce(LogMessage(level, logger, data))

    def channel_event(self, content: str, meta: dict[str, str]) -> None:
        self._announce(ChannelEvent(content, meta))

    def _announce(self, announcement: Announcement) -> bool:
        # All listeners are called, so no generator in `any`; a copy, because one may stop listening meanwhile.
        wanted = [listener(announcement) for listener in list(self._listeners.values())]
        return any(wanted)
