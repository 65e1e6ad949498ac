"""Puts what people write in the chat into the event queue, for agents that wait there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ui_mcp.app.chat_opening import calling_for_subscribers, event_of
from ui_mcp.errors import ChatError, EventQueueFullError, NotFoundError
from ui_mcp.jsontypes import dumps
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.server import Host
from ui_mcp.ui.sessions.registry import Sessions

if TYPE_CHECKING:
    from ui_mcp.chat.announcer import Heard

QUIET_SECONDS = 3.0
"""How long a first page has the processor for itself, unless somebody asks for more."""
_log = logger("chat")


@asynccontextmanager
async def telling_of_chat(host: Host, sessions: Sessions, announcements: Announcements) -> AsyncIterator[None]:
    """Push a `chat_message` event for each batch during the block.

    Raises:
        UiMcpError: the configuration names a store of its own, and it cannot be used.
    """

    def push(heard: "Heard") -> bool:
        try:
            events = sessions.get("1").events
            waited_for = events.polling
            events.push(dumps(event_of(heard)))
        except (EventQueueFullError, NotFoundError) as error:
            _log.info("No chat event: %s", error.message)
            return False
        return waited_for

    earlier, host.heard = host.heard, push
    try:
        if host.configured().config.storage.url is not None:
            await _open_chat(host)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_open_when_wanted, host, sessions, announcements)
            yield
            tasks.cancel_scope.cancel()
    finally:
        host.heard = earlier


async def _open_when_wanted(host: Host, sessions: Sessions, announcements: Announcements) -> None:
    """Wait for somebody who waits for events or subscribes, but not for long; the first page needs the time more."""
    wanted, events = anyio.Event(), sessions.get("1").events

    def look(_: object) -> None:
        if events.polling:
            wanted.set()

    stop = announcements.listen(look)
    with calling_for_subscribers(announcements, wanted.set), anyio.move_on_after(QUIET_SECONDS):
        await wanted.wait()
    stop()
    await anyio.to_thread.run_sync(_read_chat)
    await _open_chat(host)


async def _open_chat(host: Host) -> None:
    try:
        await host.chats.current()
    except ChatError as error:
        _log.error("The chat is not available: %s", error.message)


def _read_chat() -> None:
    import ui_mcp.chat.http  # noqa: F401
