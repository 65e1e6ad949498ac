"""The bus that tells whoever subscribed that something changed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ui_mcp.jsontypes import JsonObject

ListKind = Literal["tools", "resources", "prompts"]


@dataclass(frozen=True, slots=True)
class ResourceUpdated:
    """The resource at `uri` changed; `extra` may carry a small batch beside it."""

    uri: str
    extra: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ListChanged:
    """A listing changed."""

    kind: ListKind


@dataclass(frozen=True, slots=True)
class ChannelEvent:
    """Something for hosts that accept pushed events (experimental; handshake era only)."""

    content: str
    meta: dict[str, str]


Announcement = ResourceUpdated | ListChanged | ChannelEvent
Interest = Callable[[str, int], None]
"""Told a URI and how many subscriptions to it began (positive) or ended (negative)."""


class Announcements:
    """One bus from every part of the program to the subscribers of both protocol eras.

    Announce from the event loop's own thread.
    """

    def __init__(self) -> None:
        self._listeners: dict[int, Callable[[Announcement], object]] = {}
        self._next = 0
        self._interests: Counter[str] = Counter()
        self._watchers: list[Interest] = []

    def listen(self, listener: Callable[[Announcement], object]) -> Callable[[], None]:
        """Call `listener` for every announcement until the returned function is called.

        What it returns says whether somebody had asked for the announcement.
        """
        key = self._next = self._next + 1
        self._listeners[key] = listener

        def stop() -> None:
            self._listeners.pop(key, None)

        return stop

    def interest(self, uri: str, change: int) -> None:
        """Count a subscription to `uri` that began (1) or ended (-1)."""
        self._interests[uri] += change
        for watcher in tuple(self._watchers):
            watcher(uri, change)
        if not self._interests[uri]:
            del self._interests[uri]

    def watch_interest(self, watcher: Interest) -> Callable[[], None]:
        """Call `watcher` for subscriptions that exist, begin and end, until the returned function is called."""
        self._watchers.append(watcher)
        for uri, count in tuple(self._interests.items()):
            watcher(uri, count)
        return lambda: self._watchers.remove(watcher)

    def resource_updated(self, uri: str, extra: JsonObject | None = None) -> None:
        """Tell subscribers of `uri`."""
        self.tell(uri, extra)

    def tell(self, uri: str, extra: JsonObject | None = None) -> bool:
        """Tell subscribers of `uri`, and say whether there are any."""
        return self._announce(ResourceUpdated(uri, extra))

    def list_changed(self, kind: ListKind) -> None:
        """Tell subscribers of a listing."""
        self._announce(ListChanged(kind))

    def channel_event(self, content: str, meta: dict[str, str]) -> None:
        """Push an event to hosts with a channel."""
        self._announce(ChannelEvent(content, meta))

    def _announce(self, announcement: Announcement) -> bool:
        wanted = [listener(announcement) for listener in list(self._listeners.values())]
        return any(wanted)
