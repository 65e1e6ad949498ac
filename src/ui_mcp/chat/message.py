"""Messages, drafts and pages of a conversation, with their ids and limits."""

import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal

from ui_mcp.errors import ChatError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass

Author = Literal["user", "assistant"]
DEFAULT_CONVERSATION = "default"


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the log; ids are ordered by commit within a conversation, `ts` (µs) is for display only."""

    id: int
    ts: int
    author: Author
    mime: str
    content: str
    client_id: str | None = None
    principal: str = ""
    """Who posted it."""

    def to_json(self) -> JsonObject:
        """Return the five fields that every reader gets."""
        return {
            "id": id_text(self.id),
            "ts": ts_text(self.ts),
            "author": self.author,
            "mime": self.mime,
            "content": self.content,
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """A message without an id; drafts of one principal with the same `client_id` are the same message."""

    content: str
    mime: str = "text/markdown"
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """Id and time of a stored draft; `repeated` if it had been posted before."""

    id: int
    ts: int
    repeated: bool = False

    def to_json(self) -> JsonObject:
        return {"id": id_text(self.id), "ts": ts_text(self.ts)}


@dataclass(frozen=True, slots=True)
class Page:
    """The messages after a cursor; `last` is the newest id that was examined, `head` the newest id there is."""

    messages: tuple[Message, ...]
    last: int | None
    head: int | None

    @property
    def has_more(self) -> bool:
        return self.head is not None and self.head > (self.last or 0)

    def to_json(self) -> JsonObject:
        """Return the result of `chat_read_since`."""
        return {
            "messages": [message.to_json() for message in self.messages],
            "last_id": optional_id(self.last),
            "head_id": optional_id(self.head),
            "has_more": self.has_more,
        }


@dataclass(frozen=True, slots=True)
class Window:
    """The newest messages; `cut` if there are older ones."""

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
    """The id of a conversation's newest message, and of its newest message by a person; 0 = none."""

    any: int = 0
    user: int = 0

    def until(self, number: int) -> "Head":
        """Return the head with both ids limited to `number`."""
        return Head(min(self.any, number), min(self.user, number))


def id_text(number: int) -> str:
    """Return an id as 19 digits, so that text order is number order."""
    return f"{number:019d}"


def optional_id(number: int | None) -> str | None:
    """Return an id as text; None for None and for 0, which means "before all messages"."""
    return id_text(number) if number else None


def ts_text(microseconds: int) -> str:
    """Return a time as ISO 8601 in UTC with microseconds."""
    seconds, rest = divmod(microseconds, 1_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def next_id(previous: int, now_us: int) -> int:
    """Return the id after `previous`: the time in ms followed by six zeros, or `previous` + 1 if that is larger."""
    return max(now_us // 1000 * 1_000_000, previous + 1)


Clock = Callable[[], int]


def now_us() -> int:
    """Return the current time in microseconds since 1970."""
    return time.time_ns() // 1000


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CURSOR = re.compile(r"[0-9]{1,19}")
_LARGEST = 2**63 - 1
_KIB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one message, batch, page or window may hold."""

    content_bytes: int = 256 * _KIB
    mimes: tuple[str, ...] = ("text/markdown", "text/plain")
    batch: int = 100
    client_id_chars: int = 128
    page: int = 1000
    window: int = 1000
    page_bytes: int = 1024 * _KIB
    wait_seconds: float = 120.0

    def check_drafts(self, drafts: Sequence[Draft]) -> None:
        """Check the size of a batch, and the content, size and type of its messages.

        Raises:
            ChatError: invalid_argument, empty_content, content_too_large or unsupported_mime.
        """
        if not 1 <= len(drafts) <= self.batch:
            raise ChatError(f"A batch holds 1 to {self.batch} messages, not {len(drafts)}", "invalid_argument")
        for draft in drafts:
            self._check(draft)

    def _check(self, draft: Draft) -> None:
        if not draft.content.strip():
            raise ChatError("The message is empty", "empty_content")
        # PostgreSQL cannot store NUL, and JSON may contain lone surrogates, which UTF-8 cannot encode.
        if "\0" in draft.content or not _encodable(draft.content):
            raise ChatError("The message holds NUL or other characters that are not text", "invalid_argument")
        size = len(draft.content.encode())
        if size > self.content_bytes:
            message = f"The message has {size} bytes; at most {self.content_bytes} fit. Split it or link to a file."
            raise ChatError(message, "content_too_large", size=size, limit=self.content_bytes)
        if draft.mime not in self.mimes:
            message = f"Cannot post {draft.mime!r}; use one of {', '.join(self.mimes)}"
            raise ChatError(message, "unsupported_mime", mime=draft.mime, allowed=list(self.mimes))
        self._check_client_id(draft.client_id)

    def _check_client_id(self, client_id: str | None) -> None:
        if client_id is None:
            return
        if not 1 <= len(client_id) <= self.client_id_chars or "\0" in client_id or not _encodable(client_id):
            raise ChatError(f"client_id has 1 to {self.client_id_chars} characters of text", "invalid_argument")

    def page_size(self, limit: Json) -> int:
        """Return the number of messages of a page: `limit`, but at most `page`, which is also the default.

        Raises:
            ChatError: invalid_argument.
        """
        if limit is None:
            return self.page
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise ChatError(f"limit is a whole number from 1 to {self.page}, not {limit!r}", "invalid_argument")
        return min(limit, self.page)


def cursor(text: str | None) -> int:
    """Parse a cursor; None or empty means "from the start".

    Raises:
        ChatError: invalid_cursor.
    """
    if not text:
        return 0
    if not _CURSOR.fullmatch(text) or not text.isascii():
        raise ChatError(f"Not a message id: {text[:40]!r}; pass the last_id of an earlier answer", "invalid_cursor")
    return min(int(text), _LARGEST)


def conversation_name(name: str) -> str:
    """Return `name` if it is a valid name of a conversation.

    Raises:
        ChatError: unknown_conversation.
    """
    if not _NAME.fullmatch(name):
        message = f"No conversation is called {name[:80]!r}; names are 1 to 64 letters, digits, dots, - and _"
        raise ChatError(message, "unknown_conversation")
    return name


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
