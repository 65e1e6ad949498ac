"""Follows the log; wakes waiters."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf

import anyio

from ui_mcp.chat.message import Author, Head, Page
from ui_mcp.chat.store import ChatStore
from ui_mcp.errors import ChatError
from ui_mcp.log import logger

RESCAN_SECONDS = 1.0
IDLE_SECONDS = 30.0

_ASTRAY = 600_000 * 1_000_000
"""Ids are times: how far clocks that disagree may put a new message before the newest one."""

_log = logger("chat")


@dataclass(frozen=True, slots=True)
class ConversationAdvanced:
    """A conversation got new messages."""

    conversation: str
    before: Head
    now: Head


Listener = Callable[[ConversationAdvanced], None]


class Tail:
    """One follower per process, shared by every waiter and subscriber.

    While somebody waits the store is watched closely. Otherwise listeners hear what other processes tell of their
    commits, which costs nothing in between; with nobody at all the tail is at rest.
    """

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._heads: dict[str, Head] = {}
        self._newest = 0
        self._whole = True
        self._whole_due = 0.0
        self._listeners: list[Listener] = []
        self._watchers = 0
        self._wanted = anyio.Event()
        self._pause = anyio.CancelScope()
        self._turn = anyio.Event()
        self.version = 0
        """Grows with every change that was noticed, and with every interruption."""
        self._interrupted = -inf

    async def begin(self, since: int | None = None) -> None:
        """Note where everything stands; what comes after, or has come after the id `since`, is movement."""
        heads = await self._store.heads()
        self._note(heads if since is None else {name: head.until(since) for name, head in heads.items()})

    async def run(self) -> None:
        """Follow for ever; wake-ups of the store are hints, a look now and then is the net."""
        told = False
        while True:
            await self._wanted.wait()
            try:
                await self._look(told=told)
                told = await self._changed()
            except ChatError as error:
                _log.warning("Cannot follow the chat: %s", error.message)
                await anyio.sleep(RESCAN_SECONDS)

    async def _changed(self) -> bool:
        with anyio.CancelScope() as self._pause:
            if self._watchers:
                return await self._store.changed(RESCAN_SECONDS)
            quiet = IDLE_SECONDS if self._whole else RESCAN_SECONDS
            return await self._store.changed(quiet, closely=False)
        return False

    def head(self, conversation: str) -> Head:
        """Return how far a conversation had come when last looked at."""
        return self._heads.get(conversation, Head())

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Call `listener` for every movement during the block."""
        self._listeners.append(listener)
        self._rest_or_wake()
        try:
            yield
        finally:
            self._listeners.remove(listener)
            self._rest_or_wake()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow closely during the block."""
        self.watch(1)
        try:
            yield
        finally:
            self.watch(-1)

    def watch(self, change: int) -> None:
        """Count those who wait: some more, or some fewer."""
        first = not self._watchers and change > 0
        self._watchers += change
        self._rest_or_wake()
        if first:
            self._pause.cancel()  # the long pause of a tail that nobody waits for

    def _rest_or_wake(self) -> None:
        if self.follows:
            self._wanted.set()
        else:
            self._wanted = anyio.Event()

    async def wait_version(self, version: int) -> int:
        """Return the version of the store once it is not `version` any more; receipts and interruptions count too."""
        while self.version == version:
            await self._turn.wait()
        return self.version

    async def wait_past(self, conversation: str, number: int) -> None:
        """Return when a conversation has a message after `number`, or when interrupted."""
        came = anyio.current_time()
        while self.head(conversation).any <= number and not self.interrupted_since(came):
            await self._turn.wait()

    def cancel_waiters(self) -> None:
        """Send everybody home who has come until now, because the door they came by is about to close."""
        self._interrupted = anyio.current_time()
        self.version += 1  # for whoever looked before and is about to wait
        turn, self._turn = self._turn, anyio.Event()
        turn.set()

    def interrupted_since(self, came: float) -> bool:
        """Say whether whoever came at that time, by the loop's clock, has been sent home."""
        return self._interrupted >= came

    @property
    def follows(self) -> bool:
        """Say whether anybody keeps this up to date."""
        return bool(self._watchers or self._listeners)

    def committed(self, conversation: str, author: Author, number: int) -> None:
        """Take note of a commit of our own at once, without asking the store."""
        if self.follows and number > self.head(conversation).any:
            self._take({conversation: Head(number, number if author == "user" else 0)}, told=True)

    async def _look(self, *, told: bool) -> None:
        """Ask for all conversations, but at most once a second: in between for those that look newer by their ids."""
        now = anyio.current_time()
        whole = now >= self._whole_due
        seen = await self._store.heads(0 if whole else max(0, self._newest - _ASTRAY))
        self._whole, self._whole_due = whole, now + RESCAN_SECONDS if whole else self._whole_due
        self._take(seen, told=told)

    def _take(self, heads: Mapping[str, Head], *, told: bool) -> None:
        moved = [ConversationAdvanced(name, was, now) for name, was, now in self._later(heads) if now != was]
        if not told and not moved:
            return
        self._note({movement.conversation: movement.now for movement in moved})
        self.version += 1
        turn, self._turn = self._turn, anyio.Event()
        for movement in moved:
            self._tell(movement)
        turn.set()

    def _later(self, heads: Mapping[str, Head]) -> Iterator[tuple[str, Head, Head]]:
        for name, head in heads.items():
            # A commit of our own may have been noted while the store was read.
            was = self.head(name)
            yield name, was, Head(max(head.any, was.any), max(head.user, was.user))

    def _note(self, heads: Mapping[str, Head]) -> None:
        self._heads |= heads
        self._newest = max(self._newest, *(head.any for head in heads.values()), 0)

    def _tell(self, movement: ConversationAdvanced) -> None:
        for listener in tuple(self._listeners):
            listener(movement)


ReadAfter = Callable[[int], Awaitable[Page]]

Take = Callable[[Page], Awaitable[None]]
"""Keeps the messages of a page together with its `last`, so that a crash in between repeats or loses nothing."""


class Follower:
    """Takes each message once, in order, whatever happens to the hints."""

    def __init__(self, read: ReadAfter, take: Take, after: int = 0) -> None:
        self._read = read
        self._take = take
        self.after = after

    async def drain(self) -> None:
        """Take everything that is there."""
        while True:
            page = await self._read(self.after)
            if page.last is not None and page.last > self.after:
                await self._take(page)
                self.after = page.last
            if not page.has_more:
                return
