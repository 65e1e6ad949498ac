"""Which of the rows in front of it a read takes, and how far it looked; pure."""

from collections.abc import Iterable

from ui_mcp.chat.message import Message, Window
from ui_mcp.chat.store import Query

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
