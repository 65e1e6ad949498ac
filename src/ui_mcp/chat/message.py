"""What a message is, what a post asks for, and what a read gives back."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from ui_mcp.jsontypes import JsonObject

Author = Literal["user", "assistant"]
DEFAULT_CONVERSATION = "default"


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the log; `id` sorts by commit order within its conversation, `ts` (µs) is for display only."""

    id: int
    ts: int
    author: Author
    mime: str
    content: str
    client_id: str | None = None

    def to_json(self) -> JsonObject:
        """Return the five fields every reader gets."""
        return {
            "id": id_text(self.id),
            "ts": ts_text(self.ts),
            "author": self.author,
            "mime": self.mime,
            "content": self.content,
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """A message before the store gave it an id; the same `client_id` twice means the same message."""

    content: str
    mime: str = "text/markdown"
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """Where a draft ended up; `repeated` when it had been posted before."""

    id: int
    ts: int
    repeated: bool = False

    def to_json(self) -> JsonObject:
        """Return what the poster gets."""
        return {"id": id_text(self.id), "ts": ts_text(self.ts)}


@dataclass(frozen=True, slots=True)
class Page:
    """The messages after a cursor; everything up to `last` was looked at, `head` is the newest there is."""

    messages: tuple[Message, ...]
    last: int | None
    head: int | None

    @property
    def has_more(self) -> bool:
        """Say whether messages exist beyond this page."""
        return self.head is not None and self.head > (self.last or 0)

    def to_json(self) -> JsonObject:
        """Return the answer of `chat_read_since`."""
        return {
            "messages": [message.to_json() for message in self.messages],
            "last_id": optional_id(self.last),
            "head_id": optional_id(self.head),
            "has_more": self.has_more,
        }


@dataclass(frozen=True, slots=True)
class Window:
    """The newest messages, and whether older ones were left out."""

    messages: tuple[Message, ...]
    cut: bool

    def to_json(self) -> JsonObject:
        """Return the body of the inbox resource."""
        last = self.messages[-1].id if self.messages else None
        body: JsonObject = {"last_id": optional_id(last), "messages": [message.to_json() for message in self.messages]}
        if self.cut:
            body |= {"has_earlier": True, "first_id": id_text(self.messages[0].id)}
        return body


@dataclass(frozen=True, slots=True)
class Head:
    """How far a conversation has come: its newest message, and its newest message by a person; 0 = none."""

    any: int = 0
    user: int = 0

    def until(self, number: int) -> "Head":
        """Return how far it had come at most when ids had reached `number`."""
        return Head(min(self.any, number), min(self.user, number))


def id_text(number: int) -> str:
    """Write an id so that text order is number order."""
    return f"{number:019d}"


def optional_id(number: int | None) -> str | None:
    """Write an id that may be absent; 0 stands for "before everything" and is absent too."""
    return id_text(number) if number else None


def ts_text(microseconds: int) -> str:
    """Write a time as ISO-8601 in UTC with microseconds."""
    seconds, rest = divmod(microseconds, 1_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def next_id(previous: int, now_us: int) -> int:
    """Return the id after `previous`: the clock in ms with six more digits, or one more when it stood still."""
    return max(now_us // 1000 * 1_000_000, previous + 1)
