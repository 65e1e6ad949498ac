"""Follows the message log of a store and wakes waiting readers."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf

import anyio

from ui_mcp.chat.message import Author, Head, Page
from ui_mcp.chat.store import ChatStore
from ui_mcp.errors import ChatError
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger

RESCAN_SECONDS = 1.0
IDLE_SECONDS = 30.0

_MAX_CLOCK_SKEW = 600_000 * 1_000_000
"""Ten minutes in ids, which are times: how much older than the newest message a new one of another host may seem."""

_log = logger("chat")


@dataclass(frozen=True, slots=True)
class ConversationAdvanced:
    """A conversation has new messages."""

    conversation: str
    before: Head
    now: Head


Listener = Callable[[ConversationAdvanced], None]


class Tail:
    """One follower of the store per process, shared by all waiting readers and listeners.

    While a reader waits, the store is watched closely. With listeners only, it waits for wake-ups by other processes
    and rescans rarely. Without either it does nothing.
    """

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._heads: dict[str, Head] = {}
        self._newest = 0
        self._full_scan = True
        self._full_scan_due = 0.0
        self._listeners: list[Listener] = []
        self._watchers = 0
        self._needed = anyio.Event()
        self._pause = anyio.CancelScope()
        self._turn = anyio.Event()
        self.version = 0
        """Grows with every observed change and with every call of `cancel_waiters`."""
        self._cancelled_at = -inf

    async def begin(self, since: int | None = None) -> None:
        """Read the present heads; messages after them, or after the id `since`, count as new."""
        heads = await self._store.heads()
        self._note(heads if since is None else {name: head.until(since) for name, head in heads.items()})

    async def run(self) -> None:
        """Follow the store until cancelled: by its wake-ups, with a fallback poll in case one is lost."""
        notified = False
        while True:
            await self._needed.wait()
            try:
                await self._scan(notified=notified)
                notified = await self._changed()
            except ChatError as error:
                _log.warning("Cannot follow the chat: %s", error.message)
                await anyio.sleep(RESCAN_SECONDS)

    async def _changed(self) -> bool:
        with anyio.CancelScope() as self._pause:
            if self._watchers:
                return await self._store.changed(RESCAN_SECONDS)
            # A partial scan may have missed a conversation: rescan soon.
            limit = IDLE_SECONDS if self._full_scan else RESCAN_SECONDS
            return await self._store.changed(limit, closely=False)
        return False

    def head(self, conversation: str) -> Head:
        """Return the head of a conversation at the last scan."""
        return self._heads.get(conversation, Head())

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Call `listener` for every conversation with new messages during the block."""
        self._listeners.append(listener)
        self._update_needed()
        try:
            yield
        finally:
            self._listeners.remove(listener)
            self._update_needed()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the store closely during the block."""
        self.watch(1)
        try:
            yield
        finally:
            self.watch(-1)

    def watch(self, change: int) -> None:
        """Change the number of waiting readers by `change`."""
        first = not self._watchers and change > 0
        self._watchers += change
        self._update_needed()
        if first:
            self._pause.cancel()  # it may be in the long wait of IDLE_SECONDS

    def _update_needed(self) -> None:
        if self.follows:
            self._needed.set()
        else:
            self._needed = anyio.Event()

    async def wait_version(self, version: int) -> int:
        """Wait until `self.version` differs from `version` and return it; receipts and interruptions count too."""
        while self.version == version:
            await self._turn.wait()
        return self.version

    async def wait_past(self, conversation: str, number: int) -> None:
        """Wait until a conversation has a message after `number`, or `cancel_waiters` is called."""
        started = anyio.current_time()
        while self.head(conversation).any <= number and not self.interrupted_since(started):
            await self._turn.wait()

    def cancel_waiters(self) -> None:
        """End all waits of requests received until now, because their listener is about to close."""
        self._cancelled_at = anyio.current_time()
        self.version += 1  # for readers that have checked for messages and are about to wait
        turn, self._turn = self._turn, anyio.Event()
        turn.set()

    def interrupted_since(self, moment: float) -> bool:
        """Return whether `cancel_waiters` was called at or after `moment`, by the event loop's clock."""
        return self._cancelled_at >= moment

    @property
    def follows(self) -> bool:
        """Whether the heads are kept up to date."""
        return bool(self._watchers or self._listeners)

    def committed(self, conversation: str, author: Author, number: int) -> None:
        """Register a commit of this process at once, without a read of the store."""
        if self.follows and number > self.head(conversation).any:
            self._take({conversation: Head(number, number if author == "user" else 0)}, notified=True)

    async def _scan(self, *, notified: bool) -> None:
        """Read the heads of all conversations at most once a second, in between only of those with recent ids."""
        now = anyio.current_time()
        full = now >= self._full_scan_due
        seen = await self._store.heads(0 if full else max(0, self._newest - _MAX_CLOCK_SKEW))
        self._full_scan, self._full_scan_due = full, now + RESCAN_SECONDS if full else self._full_scan_due
        self._take(seen, notified=notified)

    def _take(self, heads: Mapping[str, Head], *, notified: bool) -> None:
        moved = [ConversationAdvanced(name, was, now) for name, was, now in self._later(heads) if now != was]
        if not notified and not moved:
            return
        self._note({movement.conversation: movement.now for movement in moved})
        self.version += 1
        # Replaced before it is set: a woken reader that waits again waits for the next change.
        turn, self._turn = self._turn, anyio.Event()
        for movement in moved:
            self._notify(movement)
        turn.set()

    def _later(self, heads: Mapping[str, Head]) -> Iterator[tuple[str, Head, Head]]:
        for name, head in heads.items():
            # A commit of this process may have been registered while the store was read.
            was = self.head(name)
            yield name, was, Head(max(head.any, was.any), max(head.user, was.user))

    def _note(self, heads: Mapping[str, Head]) -> None:
        self._heads |= heads
        self._newest = max(self._newest, *(head.any for head in heads.values()), 0)

    def _notify(self, movement: ConversationAdvanced) -> None:
        for listener in tuple(self._listeners):
            listener(movement)


ReadAfter = Callable[[int], Awaitable[Page]]

Take = Callable[[Page], Awaitable[None]]
"""Stores the messages of a page and its `last` in one step, so that a crash neither repeats nor loses a message."""


class Follower:
    """Processes each message once, in order, independent of lost or repeated wake-ups."""

    def __init__(self, read: ReadAfter, take: Take, after: int = 0) -> None:
        self._read = read
        self._take = take
        self.after = after

    async def drain(self) -> None:
        """Process all messages after the cursor."""
        while True:
            page = await self._read(self.after)
            if page.last is not None and page.last > self.after:
                await self._take(page)
                self.after = page.last
            if not page.has_more:
                return
