"""Pages that poll instead of holding a WebSocket: those inside an MCP host, whose frames travel in tool calls."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic

from anyio import CancelScope, Lock, create_task_group, move_on_after, sleep
from anyio.abc import TaskGroup, TaskStatus

from ui_mcp.ui.sessions.pages import Connection
from ui_mcp.wire import FINAL

SILENT_SECONDS = 60.0
"""A page that has not polled for this long counts as closed."""

Attach = Callable[[], AbstractAsyncContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class Numbered:
    """A frame with its number, counted from 1 in each direction."""

    number: int
    frame: str


@dataclass(frozen=True, slots=True)
class Synced:
    """The answer to one poll of a page."""

    seq: int
    """Number of the last frame for the page so far."""
    frames: list[str]
    """All frames that the page has not acknowledged."""
    closed: bool
    """The connection is closed: the page opens a new one, unless the session ended."""
    ended: bool


GONE = Synced(seq=0, frames=[], closed=True, ended=False)
OVER = Synced(seq=0, frames=[], closed=True, ended=True)


class LongPoll:
    """One polling page: keeps frames until the page acknowledges them, and drops frames that it repeats."""

    def __init__(self, connection: Connection) -> None:
        self.name = token_hex(16)
        self._connection = connection
        self._kept: deque[Numbered] = deque()
        self._seq = 0
        self._done = 0
        self._order = Lock()
        self._waiting = CancelScope()
        self._last_poll = monotonic()

    async def sync(
        self, after: int, frames: Sequence[Numbered], seconds: float, closing: Callable[[], Awaitable[None]]
    ) -> Synced:
        """Process the page's frames and return those for it; if there are none in either direction, wait for some."""
        self._last_poll = monotonic()
        self._waiting.cancel()  # a newer poll replaces the one that waits
        while self._kept and self._kept[0].number <= after:
            self._kept.popleft()
        await self._take(frames)
        self._keep(self._connection.outbox.take_now())
        if not frames and not self._kept and self._connection.closed is None:
            await self._wait(seconds, closing)
        self._last_poll = monotonic()
        closed = self._connection.closed
        return Synced(
            seq=self._seq,
            frames=[kept.frame for kept in self._kept],
            closed=closed is not None,
            ended=closed is not None and closed.code in FINAL,
        )

    async def silence(self) -> None:
        """Return once the page has stopped polling."""
        while (left := self._last_poll + SILENT_SECONDS - monotonic()) > 0:  # noqa: ASYNC110  (a deadline that moves)
            await sleep(left)

    async def _take(self, frames: Sequence[Numbered]) -> None:
        async with self._order:
            for sent in frames:
                if sent.number > self._done:
                    self._done = sent.number
                    await self._connection.receive(sent.frame)

    async def _wait(self, seconds: float, closing: Callable[[], Awaitable[None]]) -> None:
        async with create_task_group() as tasks:

            async def leave() -> None:
                await closing()
                self._waiting.cancel()

            tasks.start_soon(leave)
            with move_on_after(seconds) as self._waiting:
                self._keep(await self._connection.take())
            tasks.cancel_scope.cancel()

    def _keep(self, frames: Sequence[str]) -> None:
        for frame in frames:
            self._seq += 1
            self._kept.append(Numbered(self._seq, frame))


class LongPolls:
    def __init__(self, attach: Attach, tasks: TaskGroup) -> None:
        self._attach = attach
        self._tasks = tasks
        self._polls: dict[str, LongPoll] = {}

    async def open(self) -> LongPoll:
        """Connect a page; it stays connected as long as it keeps polling."""
        poll: LongPoll = await self._tasks.start(self._hold)
        return poll

    def find(self, name: str) -> LongPoll | None:
        """Return the page of that name, or None if it is unknown or has been silent for too long."""
        return self._polls.get(name)

    async def _hold(self, *, task_status: TaskStatus[LongPoll]) -> None:
        async with self._attach() as connection:
            poll = LongPoll(connection)
            self._polls[poll.name] = poll
            try:
                task_status.started(poll)
                await poll.silence()
            finally:
                del self._polls[poll.name]
