"""Claude Code's channel: what is queued for the agent is also pushed to hosts that take it, if that is switched on."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ui_mcp import config as settings
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.ui.sessions.registry import Sessions

CAPABILITY: JsonObject = {"claude/channel": {}}
_WORDS = ("app", "event", "conversation", "last_id")


def wants_channel(base_dir: str, flags: JsonObject) -> bool:
    """Say whether a directory's settings switch the channel on; wrong settings are reported elsewhere."""
    try:
        return settings.load(Workspace.at(base_dir).config_file, flags=flags).mcp.claude_channel
    except ConfigError:
        return False


@contextmanager
def pushing_events(sessions: "Sessions", announcements: Announcements) -> Iterator[None]:
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
