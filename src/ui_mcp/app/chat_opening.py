"""When the ui server's chat is opened although nobody called a tool of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from ui_mcp.app.channel import channel_event
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.server import Host
from ui_mcp.ui.states import Configured

if TYPE_CHECKING:
    from ui_mcp.chat.announcer import Heard

_log = logger("chat")


async def open_for_subscribers(host: Host, announcements: Announcements) -> None:
    """Open the chat as soon as a client subscribes to it, whether or not the UI runs; with a channel, at once."""
    wanted = anyio.Event()
    with calling_for_subscribers(announcements, wanted.set):
        await host.settled()
        state = host.state
        if isinstance(state, Configured) and state.config.mcp.claude_channel:
            host.heard = lambda heard: announcements.channel_event(*channel_event(dumps(event_of(heard))))
        else:
            await wanted.wait()
    try:
        await host.chats.current()
    except UiMcpError as error:
        _log.error("The chat is not available: %s", error.message)


@contextmanager
def calling_for_subscribers(announcements: Announcements, call: Callable[[], None]) -> Iterator[None]:
    """Call when a client subscribes to the chat during the block, or had done so before."""

    def count(uri: str, change: int) -> None:
        if change > 0 and uri.partition("://")[2].startswith("chat/"):
            call()

    stop = announcements.watch_interest(count)
    try:
        yield
    finally:
        stop()


def event_of(heard: "Heard") -> JsonObject:
    """Write what people said as an event for the agent."""
    return {"app": "ui-mcp", "event": "chat_message", **heard.to_json()}
