"""The ChatStore protocol, and queries and paging shared by its implementations."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from ui_mcp.chat.message import Author, Clock, Draft, Head, Message, Page, Posted, Window
from ui_mcp.errors import ChatError
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.storage.schema import Failure

Stage = Literal["notified", "read"]


@dataclass(frozen=True, slots=True)
class Post:
    """A batch to append in one transaction; `principal` is the sender."""

    conversation: str
    author: Author
    principal: str
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """Messages to read: those after id `after`, up to `limit` rows and `max_bytes`, by `authors` (None = all)."""

    conversation: str
    after: int = 0
    limit: int = 1000
    max_bytes: int = 1 << 20
    authors: frozenset[Author] | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """An access token of one principal, without its secret; `subscriber` stays the same when it is rotated."""

    id: str
    name: str
    subscriber: str
    scopes: frozenset[str]
    created: int
    expires: int | None = None

    def valid_at(self, now_us: int) -> bool:
        """Return whether the token is valid at that time (µs)."""
        return self.expires is None or self.expires > now_us


class MessageLog(Protocol):
    """An append-only log per conversation."""

    async def append(self, post: Post) -> Sequence[Posted]:
        """Commit a batch; when this returns, the messages are durable and readable.

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
        """Return the heads of the conversations that have a message after an id."""
        ...

    async def unread(self, conversation: str, after: int, principal: str) -> int:
        """Count messages by people other than `principal` after a cursor, up to 1000."""
        ...


class Receipts(Protocol):
    """How far messages of a conversation were announced and read; shown to people, delivery does not use them."""

    async def reached(self, conversation: str, stage: Stage, number: int) -> None:
        """Record that everything up to `number` reached `stage`; a smaller number than before is ignored."""
        ...

    async def receipts(self, conversation: str) -> Mapping[Stage, int]:
        """Return the newest id of each stage."""
        ...

    async def advance(self, query: Query, subscriber: str, number: int) -> Page:
        """Move a subscriber's mark forward to `number`, never back, durably; return the page after where it is then.

        It is one step for others who use the same mark: `query.after` is not used.
        """
        ...


class Tokens(Protocol):
    """Access tokens, stored with the digests of their secrets."""

    async def add_token(self, token: Token, digest: bytes) -> None:
        """Store a token under the digest of its secret."""
        ...

    async def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """Return a token and the digest of its secret, even if it has expired."""
        ...

    async def tokens(self) -> Sequence[Token]:
        """Return every token, oldest first."""
        ...

    async def end_tokens(self, name: str, at: int) -> int:
        """Let the valid tokens of `name` expire at time `at` (µs); return their number."""
        ...


class Wakeup(Protocol):
    """Signals that a process may have committed something."""

    async def changed(self, limit: float, *, closely: bool = True) -> bool:
        """Return True after the next commit by any process, False after `limit` seconds; either may be wrong.

        A store that other processes cannot wake polls, more often with `closely`, which means that a client waits.
        """
        ...


class ChatStore(MessageLog, Receipts, Tokens, Wakeup, Protocol):
    """All persistent data of the chat."""

    async def audit(self, principal: str, action: str, detail: str) -> None:
        """Record a refusal or a change of rights in the audit log."""
        ...

    async def backup(self, target: str) -> None:
        """Copy the whole store to a new SQLite file while it is in use.

        Raises:
            ChatError: the file exists, or cannot be written.
        """
        ...

    async def restore(self, source: str) -> None:
        """Copy a backup into this store, which must be empty, in one transaction.

        Raises:
            ChatError: the store has messages, or the file is not a backup.
        """
        ...

    async def close(self) -> None:
        """Close all connections and files."""
        ...


def storage_error(failure: Failure, message: str, **details: object) -> ChatError:
    return ChatError(message, "busy" if failure == "busy" else "storage_error", **details)


class Tables(Protocol):
    """Executes statements of the two databases; `?` stands for a value."""

    async def change(self, statement: str, values: Sequence[Any] = (), /) -> int: ...

    async def rows(self, statement: str, values: Sequence[Any] = (), /) -> list[tuple[Any, ...]]: ...


MARK = "mark:"
"""Begins the stage under which a subscriber's mark is kept among the receipts."""


class SmallTables:
    """What both databases keep in the same way: heads, receipts and tokens; `prefix` begins the names of the tables."""

    def __init__(self, tables: Tables, prefix: str, clock: Clock) -> None:
        self._tables = tables
        self._prefix = prefix
        self._clock = clock

    async def heads(self, after: int = 0) -> Mapping[str, Head]:
        rows = await self._rows("SELECT name, head, user_head FROM {}conversations WHERE head > ?", after)
        return {name: Head(head, user_head) for name, head, user_head in rows}

    async def receipts(self, conversation: str) -> Mapping[Stage, int]:
        rows = await self._rows("SELECT stage, id FROM {}receipts WHERE conversation = ?", conversation)
        return {stage: number for stage, number in rows if not stage.startswith(MARK)}

    async def add_token(self, token: Token, digest: bytes) -> None:
        scopes = " ".join(sorted(token.scopes))
        row = (token.id, token.name, token.subscriber, scopes, digest, token.created, token.expires)
        await self._change("INSERT INTO {}tokens VALUES (?, ?, ?, ?, ?, ?, ?)", *row)

    async def token(self, token_id: str) -> tuple[Token, bytes] | None:
        rows = await self._rows("SELECT * FROM {}tokens WHERE id = ?", token_id)
        return (_token(rows[0]), rows[0][4]) if rows else None

    async def tokens(self) -> Sequence[Token]:
        return [_token(row) for row in await self._rows("SELECT * FROM {}tokens ORDER BY created, id")]

    async def end_tokens(self, name: str, at: int) -> int:
        statement = (
            "UPDATE {}tokens SET expires = CASE WHEN expires < ? THEN expires ELSE ? END "
            "WHERE name = ? AND (expires IS NULL OR expires > ?)"
        )
        return await self._change(statement, at, at, name, self._clock())

    async def _change(self, statement: str, *values: object) -> int:
        return await self._tables.change(statement.format(self._prefix), values)

    async def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return await self._tables.rows(statement.format(self._prefix), values)


def _token(row: tuple[Any, ...]) -> Token:
    token_id, name, subscriber, scopes, _, created, expires = row
    return Token(token_id, name, subscriber, frozenset(scopes.split()), created, expires)


LOOKED_AT = 5000
"""Most rows that a filtered read examines before it returns what it found."""


def taken(rows: Iterable[Message], query: Query) -> tuple[tuple[Message, ...], int]:
    """Return the messages that fit the query, and the newest id that was examined."""
    messages: list[Message] = []
    last, size = query.after, 0
    for row in rows:
        if query.authors is None or row.author in query.authors:
            size += len(row.content.encode())
            # The first message always fits, or a reader could never get past a large one.
            if len(messages) == query.limit or (messages and size > query.max_bytes):
                break
            messages.append(row)
        last = row.id
    return tuple(messages), last


def window(newest_first: Iterable[Message], limit: int, max_bytes: int) -> Window:
    """Return the newest messages that fit, oldest first; `cut` if a row did not fit."""
    kept: list[Message] = []
    size = 0
    for row in newest_first:
        size += len(row.content.encode())
        if len(kept) == limit or (kept and size > max_bytes):
            return Window(tuple(kept[::-1]), cut=True)
        kept.append(row)
    return Window(tuple(kept[::-1]), cut=False)
