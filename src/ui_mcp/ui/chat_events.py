"""Turns chat messages into events for the agent and into pushes to a Claude Code channel."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from ui_mcp import config as settings
from ui_mcp.errors import ChatError, ConfigError, NotFoundError, UiMcpError
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
_META_KEYS = ("app", "event", "conversation", "last_id")


def wants_channel(base_dir: str, flags: JsonObject) -> bool:
    """Return whether the settings of a directory enable the channel; invalid settings are reported elsewhere."""
    try:
        return settings.load(Workspace.at(base_dir).config_file, flags=flags).mcp.claude_channel
    except ConfigError:
        return False


@contextmanager
def pushing_events(sessions: "SessionRegistry", announcements: Announcements) -> Iterator[None]:
    """Push queued events to the channel while the block runs."""

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
    """Return text and metadata of a queued event for the channel: for chat messages their content, else the JSON."""
    event: Json = loads(text)
    if not isinstance(event, dict):
        return text, {}
    meta = {word: event[word] for word in _META_KEYS if isinstance(event.get(word), str)}
    if event.get("event") == "chat_message" and event.get("messages"):
        return "\n\n".join(message["content"] for message in event["messages"]), meta
    return text, meta


_log = logger("chat")


async def open_for_subscribers(host: UiServer, announcements: Announcements) -> None:
    """Open the chat once a client subscribes to it, whether or not the UI runs; with a channel, immediately."""
    subscribed = anyio.Event()
    with calling_for_subscribers(announcements, subscribed.set):
        await host.wait_configured()
        state = host.state
        if isinstance(state, Configured) and state.config.mcp.claude_channel:
            host.on_new_messages = lambda new: announcements.channel_event(*channel_event(dumps(event_of(new))))
        else:
            await subscribed.wait()
    try:
        await host.chats.current()
    except UiMcpError as error:
        _log.error("The chat is not available: %s", error.message)


@contextmanager
def calling_for_subscribers(announcements: Announcements, call: Callable[[], None]) -> Iterator[None]:
    """Call `call` when a client subscribes to the chat while the block runs, or did so before."""

    def count(uri: str, change: int) -> None:
        if change > 0 and uri.partition("://")[2].startswith("chat/"):
            call()

    stop = announcements.watch_interest(count)
    try:
        yield
    finally:
        stop()


def event_of(new: "NewMessages") -> JsonObject:
    """Return new chat messages as an event for the agent."""
    return {"app": "ui-mcp", "event": "chat_message", **new.to_json()}


QUIET_SECONDS = 3.0
"""Delay before the chat is opened, so that the first page has the processor, unless a client needs the chat."""


@asynccontextmanager
async def forward_chat_messages(
    host: UiServer, sessions: "SessionRegistry", announcements: Announcements
) -> AsyncIterator[None]:
    """Push a `chat_message` event for each batch of new messages while the block runs.

    Raises:
        UiMcpError: the settings name a store, and it cannot be opened.
    """

    def push(new: "NewMessages") -> bool:
        try:
            events = sessions.get("1").events
            delivered = events.polling
            events.push(dumps(event_of(new)))
        except NotFoundError as error:
            _log.info("No chat event: %s", error.message)
            return False
        return delivered

    earlier, host.on_new_messages = host.on_new_messages, push
    try:
        if host.configured().config.storage.url is not None:
            await _open_chat(host)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_open_when_needed, host, sessions, announcements)
            yield
            tasks.cancel_scope.cancel()
    finally:
        host.on_new_messages = earlier


async def _open_when_needed(host: UiServer, sessions: "SessionRegistry", announcements: Announcements) -> None:
    """Open the chat when a client waits for events or subscribes, or after a delay in which the first page loads."""
    needed, events = anyio.Event(), sessions.get("1").events

    def check(_: object) -> None:
        if events.polling:
            needed.set()

    stop = announcements.listen(check)
    with calling_for_subscribers(announcements, needed.set), anyio.move_on_after(QUIET_SECONDS):
        await needed.wait()
    stop()
    # In a thread, because pages and calls are served meanwhile.
    await to_thread.run_sync(_import_chat)
    await _open_chat(host)


async def _open_chat(host: UiServer) -> None:
    try:
        await host.chats.current()
    except ChatError as error:
        _log.error("The chat is not available: %s", error.message)


def _import_chat() -> None:
    import ui_mcp.chat.http  # noqa: F401
