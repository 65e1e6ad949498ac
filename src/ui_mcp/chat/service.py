"""The chat service: posts, reads and waits for messages, and opens the store."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import anyio

from ui_mcp.chat.announcer import Announcer, NewMessages, ReceiptWriter
from ui_mcp.chat.identity import ADMIN, POST_ASSISTANT, POST_USER, READ, Principal
from ui_mcp.chat.message import (
    DEFAULT_CONVERSATION,
    Author,
    Draft,
    Limits,
    Message,
    Page,
    Posted,
    Window,
    conversation_name,
    cursor,
    next_id,
    optional_id,
)
from ui_mcp.chat.sqlite_store import SqliteStore
from ui_mcp.chat.store import ChatStore, Post, Query
from ui_mcp.chat.tail import Tail
from ui_mcp.config import Config
from ui_mcp.errors import ChatError, ConfigError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.storage.database import postgres_driver
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.workspace import CHAT_FILE, Workspace

CONNECT_TIMEOUT = 30.0


@asynccontextmanager
async def open_store(
    url: str, *, poll: float = 0.025, connect_timeout: float = CONNECT_TIMEOUT
) -> AsyncIterator[ChatStore]:
    """Open the store at `sqlite:///PATH` or `postgresql://…` for the length of the block.

    Connecting to PostgreSQL is retried for `connect_timeout` seconds; SQLite is polled every `poll` seconds where other
    processes cannot wake us.

    Raises:
        ConfigError: the scheme of the URL is unknown, or the driver is missing.
        ChatError: the store cannot be opened.
    """
    store = await _open(url, poll, connect_timeout)
    try:
        yield store
    finally:
        await store.close()


async def _open(url: str, poll: float, connect_timeout: float) -> ChatStore:
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        return await SqliteStore.open(Path(unquote(url.removeprefix("sqlite:///"))), poll=poll)
    if scheme in {"postgresql", "postgres"}:
        with postgres_driver():
            from ui_mcp.chat.postgres_store import PostgresStore  # its driver is optional
        return await PostgresStore.open(url, connect_timeout=connect_timeout)
    raise ConfigError(f"storage.url {scheme}://… is neither sqlite:///PATH nor postgresql://…", key="storage.url")


_SCOPES: dict[Author, str] = {"user": POST_USER, "assistant": POST_ASSISTANT}


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Unchecked arguments of a read."""

    after_id: str | None = None
    limit: int | None = None
    authors: Sequence[Author] | None = None
    conversation: str = DEFAULT_CONVERSATION
    subscriber: str | None = None
    received_at: float | None = None
    """Time of arrival by the event loop's clock; `Tail.cancel_waiters` also cancels reads that arrived before it."""


class Chat:
    """The conversations of one store, with the checks that apply to every caller."""

    def __init__(self, store: ChatStore, limits: Limits = Limits()) -> None:
        self.store = store
        self.limits = limits
        self.tail = Tail(store)
        self.receipts = ReceiptWriter(store)
        self._delivered: dict[tuple[str, str], int] = {}

    async def post(
        self, who: Principal, author: Author, conversation: str, drafts: Sequence[Draft]
    ) -> Sequence[Posted]:
        """Append a batch in one transaction; it is durable when this returns.

        Raises:
            ChatError: forbidden, invalid, too large, or the store failed.
        """
        if _SCOPES[author] not in who.scopes:
            await self.store.audit(who.name, f"refused post as {author}", conversation)
        who.require(_SCOPES[author])
        self.limits.check_drafts(drafts)
        posted = await self.store.append(Post(conversation_name(conversation), author, who.name, tuple(drafts)))
        # Wakes readers in this process without a round trip to the store.
        self.tail.committed(conversation, author, max(done.id for done in posted))
        return posted

    async def read(self, who: Principal, ask: ReadRequest) -> Page:
        """Return one page after a cursor; the server stores no position of the reader.

        Raises:
            ChatError: forbidden, or an invalid cursor, limit or name.
        """
        page = await self.store.since(self._query(who, ask))
        self._mark_delivered(who, ask.conversation, page.messages)
        return page

    async def read_and_advance(self, who: Principal, ask: ReadRequest, ack: str | None) -> Page:
        """Return the page after the mark that this server keeps for a subscriber.

        `ack` is the last id that the subscriber has finished with; it moves the mark forward before the page is read.
        Without it nothing moves, so that a crash skips no message.

        Raises:
            ChatError: as for `read`, or `ack` is beyond the newest message.
        """
        query = self._query(who, ask)
        finished = cursor(ack)
        heads = await self.store.heads() if finished else {}
        if finished and (query.conversation not in heads or finished > heads[query.conversation].any):
            raise ChatError(f"ack {ack} is beyond the newest message", "invalid_cursor")
        page = await self.store.advance(query, ask.subscriber or who.name, finished)
        self._mark_delivered(who, ask.conversation, page.messages)
        return page

    async def wait(
        self,
        who: Principal,
        ask: ReadRequest,
        seconds: float,
        closing: Callable[[], Awaitable[None]] = anyio.sleep_forever,
    ) -> Page:
        """Return a page as soon as it has a message; an empty one after `seconds`, or when `closing` returns.

        Raises:
            ChatError: as for `read`.
        """
        query = self._query(who, ask)
        received_at = anyio.current_time() if ask.received_at is None else ask.received_at
        page = await self.store.since(query)
        with self.tail.watching(), anyio.move_on_after(min(seconds, self.limits.wait_seconds)) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_after, closing, scope)
                while not page.messages and not self.tail.interrupted_since(received_at):
                    if not page.has_more:  # a filtered page may be empty although there are more rows
                        await self.tail.wait_past(query.conversation, page.last or 0)
                    page = await self.store.since(replace(query, after=page.last or 0))
                tasks.cancel_scope.cancel()
        self._mark_delivered(who, ask.conversation, page.messages)
        return page

    async def window(self, who: Principal, conversation: str) -> Window:
        """Return the newest messages that fit the limits.

        Raises:
            ChatError: forbidden, or an invalid name.
        """
        who.require(READ)
        window = await self.store.newest(conversation_name(conversation), self.limits.window, self.limits.page_bytes)
        self._mark_delivered(who, conversation, window.messages)
        return window

    async def earlier(self, who: Principal, conversation: str, before_id: str, limit: int | None) -> Window:
        """Return the newest messages before `before_id`.

        Raises:
            ChatError: forbidden, or an invalid id, limit or name.
        """
        who.require(READ)
        size = self.limits.page_size(limit)
        return await self.store.before(conversation_name(conversation), cursor(before_id), size, self.limits.page_bytes)

    async def head(self, who: Principal, conversation: str, *, of_people: bool = False) -> str | None:
        """Return the id of the newest message, or of the newest one that a person wrote.

        Raises:
            ChatError: forbidden, or an invalid name.
        """
        who.require(READ)
        heads = await self.store.heads()
        head = heads.get(conversation_name(conversation))
        return optional_id(head.user if of_people else head.any) if head else None

    async def unread(self, who: Principal, conversation: str) -> JsonObject | None:
        """Return `{conversation: count}` of people's messages since this process last returned messages to `who`.

        None if there are none, or `who` may not read.
        """
        if READ not in who.scopes:
            return None
        after = self._delivered.get((who.name, conversation), 0)
        if self.tail.follows and self.tail.head(conversation).user <= after:
            return None
        count = await self.store.unread(conversation, after, who.name)
        return {conversation: count} if count else None

    def _query(self, who: Principal, ask: ReadRequest) -> Query:
        who.require(READ)
        if ask.subscriber is not None and ask.subscriber != who.name:
            who.require(ADMIN)
        authors = frozenset(ask.authors) if ask.authors else None
        name, after = conversation_name(ask.conversation), cursor(ask.after_id)
        return Query(name, after, self.limits.page_size(ask.limit), self.limits.page_bytes, authors)

    def _mark_delivered(self, who: Principal, conversation: str, messages: Sequence[Message]) -> None:
        if not messages:
            return
        key, last = (who.name, conversation), messages[-1].id
        self._delivered[key] = max(last, self._delivered.get(key, 0))
        if POST_ASSISTANT in who.scopes:
            self.receipts.note(conversation, "read", last)


async def _cancel_after(event: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
    await event()
    scope.cancel()


@asynccontextmanager
async def open_chat(
    url: str,
    *,
    limits: Limits = Limits(),
    announcements: Announcements | None = None,
    on_new_messages: Callable[[NewMessages], object] = lambda _: None,
    since: float | None = None,
    poll: float = 0.025,
    connect_timeout: float = CONNECT_TIMEOUT,
) -> AsyncIterator[Chat]:
    """Open a store, follow it and announce people's messages for the length of the block.

    Messages written after `since` (seconds since 1970) are announced too, although the store was not open then.

    Raises:
        ConfigError: the scheme of the URL is unknown, or the driver is missing.
        ChatError: the store cannot be opened.
    """
    async with open_store(url, poll=poll, connect_timeout=connect_timeout) as store, anyio.create_task_group() as tasks:
        chat = Chat(store, limits)
        await chat.tail.begin(None if since is None else next_id(0, int(since * 1e6)) - 1)
        tasks.start_soon(chat.tail.run)
        tasks.start_soon(chat.receipts.run)
        if announcements is not None:
            tasks.start_soon(Announcer(store, chat.tail, chat.receipts, announcements, on_new_messages).run)
        try:
            yield chat
        finally:
            # Shielded: the last receipts are written even if the block was cancelled.
            with anyio.CancelScope(shield=True), anyio.move_on_after(2):
                await chat.receipts.flush()
            tasks.cancel_scope.cancel()


def limits_of(config: Config) -> Limits:
    """Return the limits that `[chat]` sets."""
    chat = config.chat
    return Limits(content_bytes=chat.max_content, mimes=chat.mimes, window=chat.window)


def store_url(config: Config, workspace: Workspace) -> str:
    """Return the URL of the workspace's chat store."""
    return config.storage.url or f"sqlite:///{workspace.state_dir / CHAT_FILE}"
