"""Bounded queue of notifications for one client; updates of the same resource are coalesced."""

import time
from collections import deque
from collections.abc import Callable, Iterable
from math import inf

import anyio

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import (
    LOG_LEVELS,
    Announcement,
    ChannelEvent,
    ListChanged,
    ListKind,
    LogMessage,
    ResourceUpdated,
)

QUIET_SECONDS = 0.1
MAX_WAITING = 1024
MAX_URIS = 10_000
CHANNEL = "claude/channel"
# A person waits for the answer to a chat message.
_IMMEDIATE = "ui://chat/"


class NotificationQueue:
    """Announcements for one client, as notifications of the protocol.

    The first update of a URI is sent at once, later ones at most every `QUIET_SECONDS`, and the last one always.
    Updates of chat URIs are never coalesced.
    """

    def __init__(self, canonical: Callable[[str], str], clock: Callable[[], float] = time.monotonic) -> None:
        self._canonical = canonical
        self._clock = clock
        self._subscribed: dict[str, set[str]] = {}
        self._kinds: frozenset[str] = frozenset()
        self._log_level: str | None = None
        self._messages: deque[JsonObject] = deque()
        self._due: dict[str, tuple[float, JsonObject]] = {}
        self._last_sent: dict[str, float] = {}
        self._wakeup = anyio.Event()
        self.closed = False
        self.cut_off = anyio.Event()
        """Set when more than `MAX_WAITING` messages were pending."""

    def set_kinds(self, kinds: Iterable[ListKind | str]) -> None:
        """Receive changes of these lists (and `CHANNEL` events)."""
        self._kinds = frozenset(kinds)

    @property
    def uris(self) -> set[str]:
        """The URIs of the subscriptions, as the client wrote them."""
        return set().union(*self._subscribed.values())

    def is_subscribed(self, uri: str) -> bool:
        return uri in self._subscribed.get(self._canonical(uri), ())

    def subscribe(self, uri: str) -> bool:
        """Receive updates of `uri` under exactly this name; return False if there are too many subscriptions."""
        canonical = self._canonical(uri)
        if canonical not in self._subscribed and len(self._subscribed) >= MAX_URIS:
            return False
        self._subscribed.setdefault(canonical, set()).add(uri)
        return True

    def unsubscribe(self, uri: str) -> None:
        canonical = self._canonical(uri)
        uris = self._subscribed.pop(canonical, set()) - {uri}
        if uris:
            self._subscribed[canonical] = uris
        self._due.pop(uri, None)
        self._last_sent.pop(uri, None)

    def publish(self, announcement: Announcement) -> bool:
        """Queue an announcement if the client subscribed to it, and return whether it did."""
        match announcement:
            case ListChanged(kind) if kind in self._kinds:
                self.put(rpc.notification(f"notifications/{kind}/list_changed"), once=True)
            case ChannelEvent(content, meta) if CHANNEL in self._kinds:
                self.put(rpc.notification(f"notifications/{CHANNEL}", {"content": content, "meta": meta}))
            case ResourceUpdated(uri, extra) if uri in self._subscribed:
                for used in tuple(self._subscribed[uri]):
                    self._updated(uri, used, extra)
            case LogMessage(level, name, data) if self._takes(level):
                self.put(rpc.notification("notifications/message", {"level": level, "logger": name, "data": data}))
            case _:
                return False
        return True

    def set_log_level(self, level: str) -> None:
        """Receive log messages from this level on; before the first call there are none."""
        self._log_level = level

    def _takes(self, level: str) -> bool:
        return self._log_level is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(self._log_level)

    def _updated(self, uri: str, used: str, extra: JsonObject | None) -> None:
        message = rpc.notification("notifications/resources/updated", _update(used, extra))
        if uri.startswith(_IMMEDIATE):
            self.put(message)
            return
        due, _ = self._due.get(used, (self._last_sent.get(used, -inf) + QUIET_SECONDS, None))
        self._due[used] = (due, message)
        self._wakeup.set()

    @property
    def has_room(self) -> bool:
        """Whether fewer than half as many messages are pending as the queue takes."""
        return len(self._messages) < MAX_WAITING // 2

    def put(self, message: JsonObject, *, once: bool = False) -> None:
        """Queue a message, or close the queue if more than `MAX_WAITING` are pending; `once` skips duplicates."""
        if self.closed or (once and message in self._messages):
            return
        self._messages.append(message)
        if len(self._messages) > MAX_WAITING:
            self.cut_off.set()
            self.close()
        self._wakeup.set()

    def close(self) -> None:
        """Close the queue; `get` still returns what is pending."""
        self.closed = True
        self._wakeup.set()

    async def get(self) -> list[JsonObject]:
        """Wait for messages and return them; an empty list means closed."""
        while True:
            # Before `_ready`, so that a message that arrives in between is not missed.
            self._wakeup = anyio.Event()
            ready = self._ready()
            if ready or self.closed:
                return ready
            with anyio.move_on_after(self._next_due()):
                await self._wakeup.wait()

    def _ready(self) -> list[JsonObject]:
        # A closed queue returns what is pending without waiting for the quiet time.
        now = inf if self.closed else self._clock()
        due = [uri for uri, (at, _) in self._due.items() if at <= now]
        updates = [self._due.pop(uri)[1] for uri in due]
        self._last_sent.update(dict.fromkeys(due, self._clock()))
        messages = [*self._messages, *updates]
        self._messages.clear()
        return messages

    def _next_due(self) -> float | None:
        soonest = min((at for at, _ in self._due.values()), default=None)
        return None if soonest is None else max(0.0, soonest - self._clock())


def _update(uri: str, extra: JsonObject | None) -> JsonObject:
    # Older typed clients keep unknown params, newer ones only `_meta`: the batch goes into both.
    if not extra:
        return {"uri": uri}
    return {"uri": uri, **extra, rpc.META: {f"ui-mcp/{key}": value for key, value in extra.items()}}
