"""One page attached to a session: what it sends goes in, frames come out."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from ui_mcp.errors import WireError
from ui_mcp.session.eyes import ANSWER, Eyes
from ui_mcp.session.outbox import Closed, Outbox


class Connection:
    """A page as its session sees it; a socket, a long poll or a test drives it."""

    def __init__(
        self, number: int, accept: Callable[["Connection", str], Awaitable[None]], *, driven: bool = False
    ) -> None:
        self.number = number
        self.driven = driven
        self.outbox = Outbox()
        self.eyes = Eyes(self.outbox.put)
        self._accept = accept

    @property
    def closed(self) -> Closed | None:
        """Why the connection is over, or None."""
        return self.outbox.closed

    async def receive(self, frame: str) -> None:
        """Let the session do what the page sent; returns when it is done."""
        if frame.startswith(ANSWER):
            with suppress(WireError):
                self.eyes.answered(frame)
        elif self.closed is None:
            await self._accept(self, frame)

    async def take(self) -> list[str]:
        """Wait for frames to show; an empty list says that the connection is over."""
        return await self.outbox.take()
