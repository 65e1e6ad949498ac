"""One page attached to a session: what it sends goes in, frames come out."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from ui_mcp.errors import WireError
from ui_mcp.session.eyes import ANSWER, Eyes
from ui_mcp.ui.sessions.pages import Closed, Outbox


class Connection:
    """A page as its session sees it; a socket, a long poll or a test drives it."""

    def __init__(
        self,
        number: int,
        accept: Callable[["Connection", str], Awaitable[None]],
        at_once: Callable[["Connection", str], bool] = lambda _connection, _frame: False,
        *,
        driven: bool = False,
    ) -> None:
        self.number = number
        self.driven = driven
        self.outbox = Outbox()
        self.eyes = Eyes(self.outbox.put)
        self._accept = accept
        self._at_once = at_once
        self._receiving = 0

    @property
    def closed(self) -> Closed | None:
        """Why the connection is over, or None."""
        return self.outbox.closed

    async def receive(self, frame: str) -> None:
        """Let the session do what the page sent; returns when it is done."""
        self._receiving += 1
        try:
            if not self._settled(frame):
                await self._accept(self, frame)
        finally:
            self._receiving -= 1

    def receive_now(self, frame: str) -> bool:
        """Begin what the page sent; False, and nothing is done, if it has to wait for something before it."""
        return not self._receiving and (self._settled(frame) or self._at_once(self, frame))

    def _settled(self, frame: str) -> bool:
        """Deal with a frame that is not for the session."""
        if frame.startswith(ANSWER):
            with suppress(WireError):
                self.eyes.answered(frame)
            return True
        return self.closed is not None

    async def take(self) -> list[str]:
        """Wait for frames to show; an empty list says that the connection is over."""
        return await self.outbox.take()
