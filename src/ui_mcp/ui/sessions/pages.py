"""Frames on their way to one page: never blocks who sends, and gives up on a page that does not read."""

from asyncio import Event
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ui_mcp.wire import FELL_BEHIND

MAX_BYTES = 32 * 1024 * 1024
MAX_REASON = 123
"""Bytes of a reason that fit into a WebSocket's close frame."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Why a connection ends, as a WebSocket close code and a few words; a page reconnects unless the session ended."""

    code: int
    reason: str

    @property
    def short_reason(self) -> str:
        """The reason, cut to what a close frame holds."""
        return self.reason.encode("utf-8", "replace")[:MAX_REASON].decode("utf-8", "ignore")


class Outbox:
    """A bounded queue of frames with one reader."""

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._frames: deque[str] = deque()
        self._size = 0
        self._limit = limit
        self._news = Event()
        self._waiting = False
        self.line: Callable[[str], bool] | None = None
        """Sends a frame at once, if it can; used while the reader waits for something to send."""
        self.closed: Closed | None = None

    def put(self, frame: str) -> None:
        """Queue a frame; a page that is too far behind is closed and starts afresh when it reconnects."""
        if self.closed is not None:
            return
        if self.line is not None and self._waiting and not self._frames and self.line(frame):
            return
        self._size += len(frame)
        if self._size > self._limit:
            self._frames.clear()
            self.close(FELL_BEHIND, "the page did not read")
            return
        self._frames.append(frame)
        self._news.set()

    def close(self, code: int, reason: str) -> None:
        """End the connection after what is queued; the first reason counts."""
        if self.closed is None:
            self.closed = Closed(code, reason)
            self._news.set()

    async def take(self) -> list[str]:
        """Wait for frames and take all of them; an empty list says that the connection is closed."""
        while not self._frames and self.closed is None:
            self._news.clear()
            self._waiting = True
            try:
                await self._news.wait()
            finally:
                self._waiting = False
        return self.take_now()

    def take_now(self) -> list[str]:
        """Take the frames that are there."""
        frames = list(self._frames)
        self._frames.clear()
        self._size = 0
        return frames
