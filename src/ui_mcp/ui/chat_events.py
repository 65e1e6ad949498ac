"""Chat messages as events and Claude Code channel pushes."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from ui_mcp import config as settings
from ui_mcp.errors import ChatError, ConfigError, EventQueueFullError, NotFoundError, UiMcpError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Configured
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.chat.announcer import NewMessages
    from ui_mcp.ui.sessions.registry import SessionRegistry


CAPABILITY: JsonObject = {"claude/channel": {}}
_WORDS = ("app", "event", "conversation", "last_id")


def wants_channel(base_dir: str, flags: JsonObject) -> bool:
    """Say whether a directory's settings switch the channel on; wrong settings are reported elsewhere."""
    try:
        return settings.load(Workspace.at(base_dir).config_file, flags=flags).mcp.claude_channel
    except ConfigError:
        return False


@contextmanager
def pushing_events(sessions: "SessionRegistry", announcements: Announcements) -> Iterator[None]:
    """Push what is queued for the agent during the block."""

    def push(events: Iterable[str]) -> None:
        for event in events:
            announcements.channel_event(*channel_event(event))

    queue = sessions.get("1").events
    queue.on_push = push
    try:
        yield
    finally:
        queue.on_push = lambda _: None


def channel_event(text: str) -> tuple[str, dict[str, str]]:
    """Write a queued event for the channel: what people said in their own words, anything else as it is."""
    event: Json = loads(text)
    if not isinstance(event, dict):
        return text, {}
    meta = {word: event[word] for word in _WORDS if isinstance(event.get(word), str)}
    if event.get("event") == "chat_message" and event.get("messages"):
        return "\n\n".join(message["content"] for message in event["messages"]), meta
    return text, meta


_log = logger("chat")


async def open_for_subscribers(host: UiServer, announcements: Announcements) -> None:
    """Open the chat as soon as a client subscribes to it, whether or not the UI runs; with a channel, at once."""
    wanted = anyio.Event()
    with calling_for_subscribers(announcements, wanted.set):
        await host.wait_configured()
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


def event_of(heard: "NewMessages") -> JsonObject:
    """Write what people said as an event for the agent."""
    return {"app": "ui-mcp", "event": "chat_message", **heard.to_json()}


QUIET_SECONDS = 3.0
"""How long a first page has the processor for itself, unless somebody asks for more."""


@asynccontextmanager
async def forward_chat_messages(
    host: UiServer, sessions: "SessionRegistry", announcements: Announcements
) -> AsyncIterator[None]:
    """Push a `chat_message` event for each batch during the block.

    Raises:
        UiMcpError: the configuration names a store of its own, and it cannot be used.
    """

    def push(heard: "NewMessages") -> bool:
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


async def _open_when_wanted(host: UiServer, sessions: "SessionRegistry", announcements: Announcements) -> None:
    """Wait for somebody who waits for events or subscribes, but not for long; the first page needs the time more."""
    wanted, events = anyio.Event(), sessions.get("1").events

    def look(_: object) -> None:
        if events.polling:
            wanted.set()

    stop = announcements.listen(look)
    with calling_for_subscribers(announcements, wanted.set), anyio.move_on_after(QUIET_SECONDS):
        await wanted.wait()
    stop()
    await to_thread.run_sync(_read_chat)
    await _open_chat(host)


async def _open_chat(host: UiServer) -> None:
    try:
        await host.chats.current()
    except ChatError as error:
        _log.error("The chat is not available: %s", error.message)


def _read_chat() -> None:
    import ui_mcp.chat.http  # noqa: F401
