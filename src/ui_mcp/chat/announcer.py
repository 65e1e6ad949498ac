"""Announces new messages to MCP subscribers and writes delivery receipts."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import get_args

import anyio

from ui_mcp.chat.message import DEFAULT_CONVERSATION, Author, Message, id_text
from ui_mcp.chat.store import ChatStore, Query, Stage
from ui_mcp.chat.tail import ConversationAdvanced, Tail
from ui_mcp.errors import ChatError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import Announcements

_THROTTLE_SECONDS = 0.05
_RETRY_SECONDS = 1.0
_log = logger("chat")


class ReceiptWriter:
    """Collects receipts and writes the newest of each conversation and stage."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._waiting: dict[tuple[str, Stage], int] = {}
        self._written: dict[tuple[str, Stage], int] = {}
        self._wakeup = anyio.Event()
        self._lock = anyio.Lock()

    def note(self, conversation: str, stage: Stage, number: int) -> None:
        """Queue a receipt: messages up to `number` have reached `stage`."""
        key = (conversation, stage)
        if number > self._written.get(key, 0):
            self._waiting[key] = max(number, self._waiting.get(key, 0))
            self._wakeup.set()

    async def run(self) -> None:
        """Write queued receipts until cancelled; receipts of a burst are written together."""
        while True:
            await self._wakeup.wait()
            self._wakeup = anyio.Event()
            written = await self.flush()
            await anyio.sleep(_THROTTLE_SECONDS if written else _RETRY_SECONDS)

    async def flush(self) -> bool:
        """Write all queued receipts, also those that a concurrent call is writing.

        Return False if the store failed; the receipts stay queued.
        """
        async with self._lock:
            waiting, self._waiting = self._waiting, {}
            try:
                for (conversation, stage), number in waiting.items():
                    await self._store.reached(conversation, stage, number)
                self._written |= waiting
            except ChatError as error:
                _log.info("Receipts not written yet: %s", error.message)
                for (conversation, stage), number in waiting.items():
                    self.note(conversation, stage, number)
                return False
            return True

    async def read(self, conversation: str) -> JsonObject:
        """Return the newest message id of each stage; None for a stage without one."""
        reached = await self._store.receipts(conversation)
        return {stage: id_text(reached[stage]) if stage in reached else None for stage in get_args(Stage)}


INBOX = "ui://chat/inbox"
HEAD = "ui://chat/head"
BATCH_SECONDS = 0.1
BATCH_MESSAGES = 20
BATCH_BYTES = 16 * 1024
_PEOPLE: frozenset[Author] = frozenset({"user"})


@dataclass(frozen=True, slots=True)
class NewMessages:
    """New messages by people, up to id `last`; `messages` is None if they are many or large."""

    conversation: str
    last: int
    messages: tuple[Message, ...] | None

    def to_json(self) -> JsonObject:
        """Return the event for agents that receive no notifications."""
        body: JsonObject = {"conversation": self.conversation, "last_id": id_text(self.last)}
        return body | ({"messages": [message.to_json() for message in self.messages]} if self.messages else {})


class Announcer:
    """Turns changes of the message log into announcements.

    The first message by a person is announced at once; messages of the next `BATCH_SECONDS` form one further batch.
    """

    def __init__(
        self,
        store: ChatStore,
        tail: Tail,
        receipts: ReceiptWriter,
        announcements: Announcements,
        on_new_messages: Callable[[NewMessages], object],
    ) -> None:
        self._store = store
        self._tail = tail
        self._receipts = receipts
        self._announcements = announcements
        self._on_new_messages = on_new_messages
        self._waiting: dict[str, ConversationAdvanced] = {}
        self._announced_at: dict[str, float] = {}
        self._wakeup = anyio.Event()

    async def run(self) -> None:
        """Announce until cancelled; while a client is subscribed, the store is watched closely."""
        with ExitStack() as stack:
            stack.enter_context(self._tail.listening(self._note))
            stack.callback(self._announcements.watch_interest(self._count))
            while True:
                with anyio.move_on_after(self._pause()):
                    await self._wakeup.wait()
                self._wakeup = anyio.Event()
                for name in self._due():
                    await self._announce(self._waiting.pop(name))

    def _count(self, uri: str, change: int) -> None:
        if uri.partition("://")[2].startswith("chat/"):
            self._tail.watch(change)

    def _note(self, movement: ConversationAdvanced) -> None:
        name = movement.conversation
        # The head is announced for every message, the inbox only for messages by people.
        for uri in uris(HEAD, name):
            self._announcements.resource_updated(uri)
        if movement.now.user > movement.before.user:
            # Coalesce with a change that has not been announced yet.
            earlier = self._waiting.get(name)
            self._waiting[name] = ConversationAdvanced(
                name, earlier.before if earlier else movement.before, movement.now
            )
            self._wakeup.set()

    def _due(self) -> list[str]:
        since = anyio.current_time() - BATCH_SECONDS
        self._announced_at = {name: at for name, at in self._announced_at.items() if at > since}
        return [name for name in self._waiting if name not in self._announced_at]

    def _pause(self) -> float | None:
        times = [self._announced_at.get(name, 0.0) + BATCH_SECONDS for name in self._waiting]
        return max(0.0, min(times) - anyio.current_time()) if times else None

    async def _announce(self, movement: ConversationAdvanced) -> None:
        name = movement.conversation
        new = NewMessages(name, movement.now.user, await self._batch(movement))
        self._announced_at[name] = anyio.current_time()
        extra = {"messages": [message.to_json() for message in new.messages]} if new.messages else None
        delivered = [self._announcements.tell(uri, extra) for uri in uris(INBOX, name)]
        if any([*delivered, self._on_new_messages(new)]):
            self._receipts.note(name, "notified", new.last)

    async def _batch(self, movement: ConversationAdvanced) -> tuple[Message, ...] | None:
        """Return the new messages if they are few and small.

        They only save the client a read; delivery does not depend on them.
        """
        query = Query(movement.conversation, movement.before.any, BATCH_MESSAGES, BATCH_BYTES, _PEOPLE)
        try:
            page = await self._store.since(query)
        except ChatError:
            return None
        complete = page.last is not None and page.last >= movement.now.user
        small = sum(len(message.content.encode()) for message in page.messages) <= BATCH_BYTES
        return page.messages if complete and small else None


def uris(family: str, conversation: str) -> tuple[str, ...]:
    """Return all URIs of one conversation's resource."""
    full = f"{family}/{conversation}"
    return (family, full) if conversation == DEFAULT_CONVERSATION else (full,)
