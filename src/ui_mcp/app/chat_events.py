"""Puts what people write in the chat into the event queue, for agents that wait there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ui_mcp.app.chat_opening import event_of
from ui_mcp.chat.announcer import Heard
from ui_mcp.errors import ChatError, NotFoundError
from ui_mcp.host.host import Host
from ui_mcp.jsontypes import dumps
from ui_mcp.log import logger
from ui_mcp.session.events import EventQueueFullError
from ui_mcp.session.sessions import Sessions

_log = logger("chat")


@asynccontextmanager
async def telling_of_chat(host: Host, sessions: Sessions) -> AsyncIterator[None]:
    """Open the chat and push a `chat_message` event for each batch during the block."""

    def push(heard: Heard) -> bool:
        try:
            events = sessions.get("1").events
            waited_for = events.polling
            events.push(dumps(event_of(heard)))
        except (EventQueueFullError, NotFoundError) as error:
            _log.info("No chat event: %s", error.message)
            return False
        return waited_for

    earlier, host.chats.heard = host.chats.heard, push
    try:
        await host.chats.current()
    except ChatError as error:
        _log.error("The chat is not available: %s", error.message)
    try:
        yield
    finally:
        host.chats.heard = earlier
