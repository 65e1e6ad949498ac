"""Appending to and reading from the log, as statements on one SQLite connection."""

import sqlite3

from ui_mcp.chat.clock import Clock
from ui_mcp.chat.message import Draft, Message, Page, Posted, Window, next_id
from ui_mcp.chat.paging import LOOKED_AT, taken, window
from ui_mcp.chat.store import Post, Query

_FIND = "SELECT key, head FROM conversations WHERE name = ?"
_START = "INSERT INTO conversations (name, head, user_head) VALUES (?, 0, 0)"
_MOVE = "UPDATE conversations SET head = ?, user_head = CASE WHEN ? THEN ? ELSE user_head END WHERE key = ?"
_INSERT = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_EARLIER = "SELECT id, ts FROM messages WHERE conversation = ? AND principal = ? AND client_id = ?"
_AFTER = (
    "SELECT id, ts, author, mime, content, client_id FROM messages "
    "WHERE conversation = ? AND id > ? ORDER BY id LIMIT ?"
)
_BEFORE = (
    "SELECT id, ts, author, mime, content, client_id FROM messages "
    "WHERE conversation = ? AND id < ? ORDER BY id DESC LIMIT ?"
)


def append(connection: sqlite3.Connection, post: Post, clock: Clock) -> list[Posted]:
    """Write a batch; the caller holds the write transaction."""
    key, head = _found_or_started(connection, post.conversation)
    posted = []
    for draft in post.drafts:
        done = _earlier(connection, key, post.principal, draft) or _insert(
            connection, (key, head), post, draft, clock()
        )
        head = max(head, done.id)
        posted.append(done)
    if not all(done.repeated for done in posted):
        connection.execute(_MOVE, (head, post.author == "user", head, key))
    return posted


def since(connection: sqlite3.Connection, query: Query) -> Page:
    """Read one page; head and messages come from the same snapshot."""
    connection.execute("BEGIN")
    try:
        found = connection.execute(_FIND, (query.conversation,)).fetchone()
        if found is None:
            return Page((), query.after, None)
        most = query.limit + 1 if query.authors is None else LOOKED_AT
        rows = connection.execute(_AFTER, (found[0], query.after, most))
        messages, last = taken((Message(*row) for row in rows), query)
        return Page(messages, last, found[1])
    finally:
        connection.execute("COMMIT")


def before(connection: sqlite3.Connection, name: str, number: int, limit: int, max_bytes: int) -> Window:
    """Read the newest messages below an id."""
    found = connection.execute(_FIND, (name,)).fetchone()
    if found is None:
        return Window((), cut=False)
    rows = connection.execute(_BEFORE, (found[0], number, limit + 1))
    return window((Message(*row) for row in rows), limit, max_bytes)


def _found_or_started(connection: sqlite3.Connection, name: str) -> tuple[int, int]:
    row = connection.execute(_FIND, (name,)).fetchone()
    if row is None:
        return int(connection.execute(_START, (name,)).lastrowid or 0), 0
    return int(row[0]), int(row[1])


def _earlier(connection: sqlite3.Connection, key: int, principal: str, draft: Draft) -> Posted | None:
    if draft.client_id is None:
        return None
    row = connection.execute(_EARLIER, (key, principal, draft.client_id)).fetchone()
    return Posted(row[0], row[1], repeated=True) if row else None


def _insert(connection: sqlite3.Connection, place: tuple[int, int], post: Post, draft: Draft, ts: int) -> Posted:
    key, head = place
    number = next_id(head, ts)
    row = (key, number, ts, post.author, post.principal, draft.mime, draft.content, draft.client_id)
    connection.execute(_INSERT, row)
    return Posted(number, ts)
