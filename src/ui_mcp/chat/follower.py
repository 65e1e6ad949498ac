"""Reads a conversation from a cursor of its own; hints only say when to look."""

from collections.abc import Awaitable, Callable

from ui_mcp.chat.message import Page

ReadAfter = Callable[[int], Awaitable[Page]]
Take = Callable[[Page], Awaitable[None]]
"""Keeps the messages of a page together with its `last`, so that a crash in between repeats or loses nothing."""


class Follower:
    """Takes each message once, in order, whatever happens to the hints."""

    def __init__(self, read: ReadAfter, take: Take, after: int = 0) -> None:
        self._read = read
        self._take = take
        self.after = after

    async def drain(self) -> None:
        """Take everything that is there."""
        while True:
            page = await self._read(self.after)
            if page.last is not None and page.last > self.after:
                await self._take(page)
                self.after = page.last
            if not page.has_more:
                return
