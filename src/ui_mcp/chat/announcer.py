"""Announces people's messages; delivery receipts."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import get_args

import anyio

from ui_mcp.chat.message import DEFAULT_CONVERSATION, Author, Message, id_text
from ui_mcp.chat.store import ChatStore, Query, Stage
from ui_mcp.chat.tail import ConversationAdvanced, Tail
from ui_mcp.errors import ChatError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import Announcements

_QUIET_SECONDS = 0.05
_MEND_SECONDS = 1.0
_log = logger("chat")


class ReceiptWriter:
    """Collects receipts and writes the newest of each kind."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._waiting: dict[tuple[str, Stage], int] = {}
        self._written: dict[tuple[str, Stage], int] = {}
        self._bell = anyio.Event()
        self._pen = anyio.Lock()

    def note(self, conversation: str, stage: Stage, number: int) -> None:
        """Remember to write a receipt."""
        key = (conversation, stage)
        if number > self._written.get(key, 0):
            self._waiting[key] = max(number, self._waiting.get(key, 0))
            self._bell.set()

    async def run(self) -> None:
        """Write receipts as they come, a burst at once."""
        while True:
            await self._bell.wait()
            self._bell = anyio.Event()
            written = await self.flush()
            await anyio.sleep(_QUIET_SECONDS if written else _MEND_SECONDS)

    async def flush(self) -> bool:
        """Write what waits; say whether it could be written, else it waits on.

        Everything noted before the call is written when this returns, also what another call is about to write.
        """
        async with self._pen:
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
        """Return the newest id of each stage, absent ones as null."""
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
    """People wrote something, up to `last`; `messages` only when they are few and small."""

    conversation: str
    last: int
    messages: tuple[Message, ...] | None

    def to_json(self) -> JsonObject:
        """Return the event that agents without notifications get."""
        body: JsonObject = {"conversation": self.conversation, "last_id": id_text(self.last)}
        return body | ({"messages": [message.to_json() for message in self.messages]} if self.messages else {})


class Announcer:
    """Turns movements of the log into announcements.

    The first message of people is told at once; what is committed within the next `BATCH_SECONDS` is one further batch.
    """

    def __init__(
        self,
        store: ChatStore,
        tail: Tail,
        receipts: ReceiptWriter,
        announcements: Announcements,
        heard: Callable[[NewMessages], object],
    ) -> None:
        self._store = store
        self._tail = tail
        self._receipts = receipts
        self._announcements = announcements
        self._heard = heard
        self._waiting: dict[str, ConversationAdvanced] = {}
        self._told: dict[str, float] = {}
        self._bell = anyio.Event()

    async def run(self) -> None:
        """Announce for ever; the store is watched closely while somebody subscribes."""
        with ExitStack() as stack:
            stack.enter_context(self._tail.listening(self._note))
            stack.callback(self._announcements.watch_interest(self._count))
            while True:
                with anyio.move_on_after(self._pause()):
                    await self._bell.wait()
                self._bell = anyio.Event()
                for name in self._due():
                    await self._announce(self._waiting.pop(name))

    def _count(self, uri: str, change: int) -> None:
        if uri.partition("://")[2].startswith("chat/"):
            self._tail.watch(change)

    def _note(self, movement: ConversationAdvanced) -> None:
        name = movement.conversation
        for uri in uris(HEAD, name):
            self._announcements.resource_updated(uri)
        if movement.now.user > movement.before.user:
            earlier = self._waiting.get(name)
            self._waiting[name] = ConversationAdvanced(
                name, earlier.before if earlier else movement.before, movement.now
            )
            self._bell.set()

    def _due(self) -> list[str]:
        since = anyio.current_time() - BATCH_SECONDS
        self._told = {name: told for name, told in self._told.items() if told > since}
        return [name for name in self._waiting if name not in self._told]

    def _pause(self) -> float | None:
        times = [self._told.get(name, 0.0) + BATCH_SECONDS for name in self._waiting]
        return max(0.0, min(times) - anyio.current_time()) if times else None

    async def _announce(self, movement: ConversationAdvanced) -> None:
        name = movement.conversation
        heard = NewMessages(name, movement.now.user, await self._batch(movement))
        self._told[name] = anyio.current_time()
        extra = {"messages": [message.to_json() for message in heard.messages]} if heard.messages else None
        told = [self._announcements.tell(uri, extra) for uri in uris(INBOX, name)]
        if any([*told, self._heard(heard)]):
            self._receipts.note(name, "notified", heard.last)

    async def _batch(self, movement: ConversationAdvanced) -> tuple[Message, ...] | None:
        """Return the new messages if they are few and small: a convenience for clients, never the delivery."""
        query = Query(movement.conversation, movement.before.any, BATCH_MESSAGES, BATCH_BYTES, _PEOPLE)
        try:
            page = await self._store.since(query)
        except ChatError:
            return None
        complete = page.last is not None and page.last >= movement.now.user
        small = sum(len(message.content.encode()) for message in page.messages) <= BATCH_BYTES
        return page.messages if complete and small else None


def uris(family: str, conversation: str) -> tuple[str, ...]:
    """Return the names under which one conversation's resource can be asked for."""
    full = f"{family}/{conversation}"
    return (family, full) if conversation == DEFAULT_CONVERSATION else (full,)
