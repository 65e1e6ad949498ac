"""Connections of pages: their outgoing queues, queries and notices."""

from asyncio import Event
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

import anyio

from ui_mcp.errors import SessionGoneError, WireError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.ui.state.acts import AGENT, PERSON
from ui_mcp.wire import FELL_BEHIND, NOTICE_APP, MessageType, Property

MAX_BYTES = 32 * 1024 * 1024

MAX_REASON = 123
"""Bytes of a reason that fit into a WebSocket close frame."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Why a connection ends, as a WebSocket close code and a reason; a page reconnects unless the session ended."""

    code: int
    reason: str

    @property
    def short_reason(self) -> str:
        """The reason, cut to the size of a close frame."""
        return self.reason.encode("utf-8", "replace")[:MAX_REASON].decode("utf-8", "ignore")


class Outbox:
    """Bounded queue of frames for one page, with one reader; closes the page when it falls behind."""

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._frames: deque[str] = deque()
        self._size = 0
        self._limit = limit
        self._wakeup = Event()
        self.closed: Closed | None = None

    def put(self, frame: str) -> None:
        """Queue a frame; above the limit, drop the queue and close the page, which starts afresh when it reconnects."""
        if self.closed is not None:
            return
        self._size += len(frame)
        if self._size > self._limit:
            self._frames.clear()
            self.close(FELL_BEHIND, "the page did not read")
            return
        self._frames.append(frame)
        self._wakeup.set()

    def close(self, code: int, reason: str) -> None:
        """Close the connection after the queued frames; only the first reason counts."""
        if self.closed is None:
            self.closed = Closed(code, reason)
            self._wakeup.set()

    async def take(self) -> list[str]:
        """Wait for frames and take all of them; return an empty list once the connection is closed."""
        while not self._frames and self.closed is None:
            # asyncio's event, not anyio's: it can be cleared, and this is the way of every click.
            self._wakeup.clear()
            await self._wakeup.wait()
        return self.take_now()

    def take_now(self) -> list[str]:
        """Take the queued frames without waiting."""
        frames = list(self._frames)
        self._frames.clear()
        self._size = 0
        return frames


ANSWER = f'{{"type":"{MessageType.LOOKED}"'
"""Start of a frame that answers a query."""
HISTORY = f'{{"type":"{MessageType.HISTORY}"'
"""Start of a frame that asks something of the history."""


class PageQueries:
    """Queries to one page: each is a frame with a number, which the answer repeats."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._waiting: dict[int, anyio.Event] = {}
        self._answers: dict[int, str] = {}
        self._last = 0

    async def ask(self, request: str, prefix: str) -> str:
        """Return the page's answer; the caller must limit the time.

        Raises:
            SessionGoneError: the page disconnected before it answered.
        """
        self._last += 1
        number = self._last
        arrived = self._waiting[number] = anyio.Event()
        try:
            self._send(dumps({"type": MessageType.LOOK, "data": {"id": number, "prefix": prefix, "request": request}}))
            await arrived.wait()
        finally:
            self._waiting.pop(number, None)
        if number not in self._answers:
            raise SessionGoneError("The page left before it answered")
        return self._answers.pop(number)

    async def wait_rendered(self) -> None:
        """Return when the page has rendered everything sent before, and everything that it sent has arrived.

        Raises:
            SessionGoneError: the page disconnected.
        """
        await self.ask("", "")

    def on_answer(self, frame: str) -> None:
        """Handle an answer frame; drop it if its caller no longer waits.

        Raises:
            WireError: the frame is not an answer.
        """
        try:
            data = loads(frame)["data"]
            number, answer = int(data["id"]), str(data["answer"])
        except (ValueError, KeyError, TypeError) as error:
            raise WireError("Not an answer to a look") from error
        # An answer that came too late would otherwise be kept for ever.
        if number in self._waiting:
            self._answers[number] = answer
            self._waiting[number].set()

    def close(self) -> None:
        """Fail all pending queries."""
        # `ask` finds no answer under its number and raises.
        for arrived in self._waiting.values():
            arrived.set()


class Connection:
    """A page as its session sees it; driven by a WebSocket, a long poll or a test."""

    def __init__(
        self,
        number: int,
        accept: Callable[["Connection", str], Awaitable[None]],
        *,
        driven: bool = False,
        page: str = "",
    ) -> None:
        self.number = number
        self.driven = driven
        self.author = AGENT if driven else f"{PERSON}:{page or number}"
        """Who acts in this page, for the history; `page` is the tab's own id, which survives a reconnection."""
        self.outbox = Outbox()
        self.queries = PageQueries(self.outbox.put)
        self.processed = 0
        """Frames of the page that the session has processed."""
        self.saved = 0
        """How many of them it knows to be saved."""
        self._accept = accept
        self._driving = 0

    @contextmanager
    def acted_in(self) -> Iterator[None]:
        """Count what the page sends meanwhile as done by the agent: its script does what the agent asked for."""
        self._driving += 1
        try:
            yield
        finally:
            self._driving -= 1

    @property
    def actor(self) -> str:
        """Who does what the page sends now."""
        return AGENT if self._driving else self.author

    @property
    def closed(self) -> Closed | None:
        """Why the connection is over, or None."""
        return self.outbox.closed

    async def receive(self, frame: str) -> None:
        """Let the session process a frame of the page; return when it is done."""
        # An answer is no call into Lua, so it does not wait behind one.
        if frame.startswith(ANSWER):
            with suppress(WireError):
                self.queries.on_answer(frame)
        elif self.closed is None:
            await self._accept(self, frame)
            if not frame.startswith(HISTORY):  # the page does not wait for these to be saved
                self.processed += 1

    async def take(self) -> list[str]:
        """Wait for frames to send; return an empty list once the connection is closed."""
        return await self.outbox.take()


Level = Literal["info", "warning", "error"]
Notice = tuple[Level, str, str]
"""Level, text and code."""
_LEVELS: tuple[Level, ...] = ("info", "warning", "error")


def notice_frame(level: Level, text: str, code: str) -> str:
    """Return the frame that shows a notice in a page."""
    notice = dumps({"level": level, "text": text, "code": code})
    return dumps({"type": MessageType.UPDATE, "data": {"varId": 1, "properties": {Property.NOTICE: notice}}})


def app_notice(text: str) -> Notice:
    """Return level, text and code of a notice that an app sent as JSON; an unknown level counts as `info`."""
    notice = loads(text)
    level: Level = next((one for one in _LEVELS if one == notice.get("level")), "info")
    return level, str(notice.get("text", "")), NOTICE_APP


def system_event(event: str, facts: JsonObject | None = None) -> str:
    """Return an event of the server, as JSON text."""
    return dumps({**(facts or {}), "app": "ui-mcp", "event": event})


class Pages:
    """The connections of a session, by number; numbers are never reused."""

    def __init__(
        self,
        accept: Callable[[Connection, str], Awaitable[None]],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._accept = accept
        self._changed = changed
        self._connections: dict[int, Connection] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, *, driven: bool = False, page: str = "") -> Connection:
        """Return a new connection; a `driven` page is operated by a program, without a person."""
        self._last += 1
        connection = self._connections[self._last] = Connection(self._last, self._accept, driven=driven, page=page)
        self._changed()
        return connection

    def latest(self) -> Connection | None:
        """Return the page that a person opened last."""
        return next((page for page in reversed(self._connections.values()) if not page.driven), None)

    def prefer(self, connection: Connection) -> None:
        """Let a page count as the one that a person opened last, because they use it now."""
        self._connections[connection.number] = self._connections.pop(connection.number)

    def by_author(self, author: str) -> Connection | None:
        return next((page for page in reversed(self._connections.values()) if page.author == author), None)

    def driven(self) -> list[Connection]:
        """Return the pages that a program operates."""
        return [page for page in self._connections.values() if page.driven]

    def remove(self, connection: Connection) -> bool:
        """Remove a connection; return False if it was removed before."""
        connection.queries.close()
        known = self._connections.pop(connection.number, None) is not None
        self._changed()
        return known

    def deliver(self, number: int, frame: str) -> None:
        """Send a frame to its page, if it is still connected."""
        connection = self._connections.get(number)
        if connection is not None:
            connection.outbox.put(frame)

    def processed(self) -> dict[int, int]:
        """Return how many frames of each page were processed, by the number of its connection."""
        return {number: connection.processed for number, connection in self._connections.items()}

    def confirm_saved(self, frames: Mapping[int, int]) -> None:
        """Tell each page how many of its frames have effects that are saved."""
        for number, count in frames.items():
            connection = self._connections.get(number)
            if connection is not None and count > connection.saved:
                connection.saved = count
                connection.outbox.put(dumps({"type": MessageType.SAVED, "data": {"frames": count}}))

    def notify(self, level: Level, text: str, code: str) -> None:
        self.send_all(notice_frame(level, text, code))

    def send_all(self, frame: str) -> None:
        """Send a frame to every page."""
        for number in self._connections:
            self.deliver(number, frame)

    def close(self, code: int, reason: str) -> None:
        """Close every connection after its queued frames."""
        for connection in self.release():
            connection.outbox.close(code, reason)

    def release(self) -> list[Connection]:
        """Remove every connection and return them; they stay open."""
        released = list(self._connections.values())
        self._connections.clear()
        self._changed()
        return released


class UnseenNotices:
    """Shows notices in the pages; those of a time without a page are shown in the next one."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._frames: list[str] = []

    def notify(self, level: Level, text: str, code: str) -> None:
        if self._pages.latest() is None:
            self._frames.append(notice_frame(level, text, code))
        else:
            self._pages.notify(level, text, code)

    def show(self, connection: Connection) -> None:
        """Send what no person has seen to a page of a person."""
        if not connection.driven:
            for frame in self._frames:
                connection.outbox.put(frame)
            self._frames.clear()
