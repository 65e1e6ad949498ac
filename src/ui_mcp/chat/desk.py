"""Where a face's tools and resources find their chat and learn who is calling."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from ui_mcp.chat.identity import Directory, Principal
from ui_mcp.chat.service import Chat
from ui_mcp.toolkit.tool import Call

Side = Literal["human", "assistant"]


@dataclass(frozen=True, slots=True)
class Open:
    """A chat in use and those who may call it."""

    chat: Chat
    directory: Directory

    async def caller(self, call: Call) -> Principal:
        """Return who is calling."""
        return await self.directory.of(call.principal)


Desk = Callable[[], Awaitable[Open]]
"""Opens the chat on first need: a server may be configured before it has one."""


def desk_for(chat: Chat, directory: Directory) -> Desk:
    """Return a desk that is always open."""
    opened = Open(chat, directory)

    async def desk() -> Open:
        return opened

    return desk
