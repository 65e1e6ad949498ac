"""ChatStore protocol, queries, paging."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ui_mcp.chat.message import Author, Draft, Head, Message, Page, Posted, Window

Stage = Literal["notified", "read"]


@dataclass(frozen=True, slots=True)
class Post:
    """A batch to append in one transaction; `principal` is who sends it."""

    conversation: str
    author: Author
    principal: str
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """Which messages to read: after a cursor, at most so many rows and bytes, perhaps of some authors only."""

    conversation: str
    after: int = 0
    limit: int = 1000
    max_bytes: int = 1 << 20
    authors: frozenset[Author] | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A key of one principal, without the secret; `subscriber` survives rotation."""

    id: str
    name: str
    subscriber: str
    scopes: frozenset[str]
    created: int
    expires: int | None = None

    def valid_at(self, now_us: int) -> bool:
        """Say whether the token opens anything at that time (µs)."""
        return self.expires is None or self.expires > now_us


class MessageLog(Protocol):
    """An append-only log per conversation."""

    async def append(self, post: Post) -> Sequence[Posted]:
        """Commit a batch; when this returns the messages are on disk and readable.

        Raises:
            ChatError: busy or storage_error.
        """
        ...

    async def since(self, query: Query) -> Page:
        """Return the messages after the cursor in commit order."""
        ...

    async def newest(self, conversation: str, limit: int, max_bytes: int) -> Window:
        """Return the newest messages, oldest first."""
        ...

    async def before(self, conversation: str, before: int, limit: int, max_bytes: int) -> Window:
        """Return the newest messages older than `before`, oldest first."""
        ...

    async def heads(self, after: int = 0) -> Mapping[str, Head]:
        """Return how far each conversation has come, of those with a message after an id."""
        ...

    async def unread(self, conversation: str, after: int, principal: str) -> int:
        """Count messages by people other than `principal` after a cursor, up to 1000."""
        ...


class Receipts(Protocol):
    """How far messages of a conversation have been announced and read; hints for people, never delivery."""

    async def reached(self, conversation: str, stage: Stage, number: int) -> None:
        """Note that everything up to `number` reached `stage`; it never moves back."""
        ...

    async def receipts(self, conversation: str) -> Mapping[Stage, int]:
        """Return the newest id of each stage."""
        ...


class Tokens(Protocol):
    """Keys, stored as hashes."""

    async def add_token(self, token: Token, digest: bytes) -> None:
        """Store a token under the digest of its secret."""
        ...

    async def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """Return a token and the digest of its secret, also when it has ended."""
        ...

    async def tokens(self) -> Sequence[Token]:
        """Return every token, oldest first."""
        ...

    async def end_tokens(self, name: str, at: int) -> int:
        """Let the valid tokens of `name` end at that time, and count them."""
        ...


class Wakeup(Protocol):
    """Tells that some process may have committed something."""

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next commit by any process, False after `limit` seconds; either may be a mistake.

        A store that nobody can wake looks for itself, more often when `closely` says that somebody waits.
        """
        ...


class ChatStore(MessageLog, Receipts, Tokens, Wakeup, Protocol):
    """Everything chat keeps."""

    async def audit(self, principal: str, action: str, detail: str) -> None:
        """Note a refusal or a change of rights."""
        ...

    async def backup(self, target: str) -> None:
        """Copy the whole store to a new file while it is in use; the file is a SQLite store of its own.

        Raises:
            ChatError: the file exists, or cannot be written.
        """
        ...

    async def restore(self, source: str) -> None:
        """Fill this store, which must be empty, from a backup: all of it or nothing.

        Raises:
            ChatError: there are messages here, or the file is no backup.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


LOOKED_AT = 5000
"""Rows a filtered read examines at most before it answers with what it found."""


def taken(rows: Iterable[Message], query: Query) -> tuple[tuple[Message, ...], int]:
    """Pick the messages a query asks for, and return the id up to which it has looked."""
    messages: list[Message] = []
    last, size = query.after, 0
    for row in rows:
        if query.authors is None or row.author in query.authors:
            size += len(row.content.encode())
            if len(messages) == query.limit or (messages and size > query.max_bytes):
                break
            messages.append(row)
        last = row.id
    return tuple(messages), last


def window(newest_first: Iterable[Message], limit: int, max_bytes: int) -> Window:
    """Keep the newest messages that fit, oldest first, and say whether a row was left."""
    kept: list[Message] = []
    size = 0
    for row in newest_first:
        size += len(row.content.encode())
        if len(kept) == limit or (kept and size > max_bytes):
            return Window(tuple(kept[::-1]), cut=True)
        kept.append(row)
    return Window(tuple(kept[::-1]), cut=False)
