"""Newline-delimited messages over file descriptors."""

import asyncio
import os
import select
import stat
import sys
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final, Generic, TypeVar

import anyio

from ui_mcp.processes import in_daemon_thread

T = TypeVar("T")
CHUNK = 64 * 1024
"""Bytes of one read: all that a pipe holds. A larger buffer would be mapped and unmapped by the kernel each time."""


# PIPE_BUF: a pipe that polls as writable accepts this many bytes without blocking.
ATOMIC = 4096
BACKLOG = 8 * 1024 * 1024


class Writer:
    """Writes whole messages in order: small ones immediately, others as the reader makes room."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pollable = is_pollable(fd)
        # Absent on Windows; not needed where a write that would block says so.
        self._poll = select.poll() if hasattr(select, "poll") and os.get_blocking(fd) else None
        if self._poll is not None:
            self._poll.register(fd, select.POLLOUT)
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        self._work = anyio.Event()
        self._room = anyio.Event()

    def write(self, data: bytes) -> None:
        """Send one message, or queue it behind earlier ones.

        Raises:
            OSError: the reading end is closed.
        """
        written = 0
        if not self._waiting and len(data) <= ATOMIC and self._ready():
            written = _write_some(self._fd, data)
        if written < len(data):
            rest = memoryview(data)[written:]
            self._waiting.append(rest)
            self._size += len(rest)
            self._work.set()

    async def run(self) -> None:
        """Write queued messages until cancelled."""
        while True:
            await self._work.wait()
            while self._waiting:
                await self._drain(self._waiting[0])
                self._size -= len(self._waiting.popleft())
                if self._size <= BACKLOG:
                    self._room.set()
            self._work = anyio.Event()

    @property
    def has_room(self) -> bool:
        """Whether the queue is short enough to accept more."""
        return self._size <= BACKLOG

    async def room(self) -> None:
        """Wait until the queue is short enough to accept more."""
        await self._until(lambda: self.has_room)

    async def flushed(self) -> None:
        await self._until(lambda: not self._waiting)

    async def _until(self, enough: Callable[[], bool]) -> None:
        while not enough():
            # All waiters share one event: replace it only when set, or the others would never wake.
            if self._room.is_set():
                self._room = anyio.Event()
            await self._room.wait()

    async def _drain(self, data: memoryview) -> None:
        if not self._pollable:
            # A file or a Windows pipe: the event loop cannot wait for it, so a thread blocks.
            await in_daemon_thread(lambda: _write_all(self._fd, data))
            return
        while data:
            await anyio.wait_writable(self._fd)
            while data and self._ready() and (written := _write_some(self._fd, data[:ATOMIC])):
                data = data[written:]

    def _ready(self) -> bool:
        return self._pollable and (self._poll is None or bool(self._poll.poll(0)))


def _write_some(fd: int, data: bytes | memoryview) -> int:
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0


def _write_all(fd: int, data: memoryview) -> None:
    while data:
        data = data[os.write(fd, data) :]


def is_pollable(fd: int) -> bool:
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(fd))


class Handover(Generic[T]):
    """Gives one value to the one task that waits for it; with every message, so it must cost less than an event."""

    def __init__(self) -> None:
        self._future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def give(self, value: T) -> None:
        if not self._future.cancelled():  # as it is while the program ends
            self._future.set_result(value)

    async def wait(self) -> T:
        return await self._future


MAX_LINE = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"  # some Windows programs put it before the first line


class OversizedLine(Enum):
    """Placeholder for a line that was skipped because it is too long."""

    LINE = "line"


Line = bytes | OversizedLine


class LineSplitter:
    """Splits a byte stream into lines; blank lines are dropped."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit: Final = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines that `chunk` completes."""
        *complete, rest = chunk.split(b"\n")
        lines = [line for piece in complete for line in self._finish(piece)]
        return lines + self._keep(rest)

    @property
    def is_empty(self) -> bool:
        """Whether the next chunk begins a line."""
        return not self._parts and not self._skipping

    def rest(self) -> bytes:
        """Return the beginning of an unfinished line and forget it."""
        rest, self._parts, self._size = b"".join(self._parts), [], 0
        return rest

    def end(self) -> list[Line]:
        """Return the last line if it had no line break."""
        return self._finish(b"")

    def _finish(self, piece: bytes) -> list[Line]:
        problems = self._keep(piece)
        line = b"".join(self._parts).removeprefix(_BOM).strip()
        self._parts, self._size, self._skipping = [], 0, False
        return [*problems, line] if line else problems

    def _keep(self, piece: bytes) -> list[Line]:
        if self._skipping or not piece:
            return []
        self._size += len(piece)
        if self._size > self._limit:
            self._parts, self._skipping = [], True
            return [OversizedLine.LINE]
        self._parts.append(piece)
        return []


class PipeReader:
    """Reads one file descriptor to its end."""

    def __init__(self, fd: int, take: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._take = take
        self._ended = anyio.Event()
        self._flowing = anyio.Event()
        self._flowing.set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def pause(self) -> None:
        """Stop reading until `resume`; input stays in the pipe."""
        if self._flowing.is_set() and not self._ended.is_set():
            self._flowing = anyio.Event()
            if self._loop is not None:
                self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        if not self._flowing.is_set():
            self._flowing.set()
            if self._loop is not None:
                self._loop.add_reader(self._fd, self._readable)

    async def run(self) -> None:
        """Pass on every chunk, and an empty one at the end."""
        if not is_pollable(self._fd):
            await self._threaded()
            return
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._readable)
        try:
            await self._ended.wait()
        finally:
            self._loop.remove_reader(self._fd)
            self._loop = None

    def _readable(self) -> None:
        try:
            chunk = _read(self._fd)
        except BlockingIOError:  # a socket may poll as readable without being so
            return
        if not chunk:
            self._ended.set()
            if self._loop is not None:
                self._loop.remove_reader(self._fd)
        self._take(chunk)

    async def _threaded(self) -> None:
        while chunk := await in_daemon_thread(lambda: _read(self._fd)):
            self._take(chunk)
            await self._flowing.wait()
        self._take(b"")


class LineReader:
    """Reads lines to the end of input, and waits while what becomes of them cannot be written.

    A chunk that is one whole line is first given to `pass_on`, which returns whether it has passed it on unread.
    """

    def __init__(
        self,
        fd: int,
        take: Callable[[Line], None],
        writer: Callable[[], Writer],
        pass_on: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._pipe = PipeReader(fd, self._on_chunk)
        self._take = take
        self._writer = writer
        self._pass_on = pass_on
        self._splitter = LineSplitter()
        self._attention = anyio.Event()
        """Set when `run` has to act: input ended or waits, or `take` failed."""
        self._ended = False
        self._broken: OSError | None = None

    async def run(self, received: bytes = b"") -> None:
        """Take every line, those of `received` first.

        Raises:
            OSError: `take` could not write, inside an exception group.
        """
        async with anyio.create_task_group() as tasks:
            if received:
                self._on_chunk(received)
            tasks.start_soon(self._pipe.run)
            while not self._ended:
                await self._attention.wait()
                self._attention = anyio.Event()
                if self._broken is not None:
                    raise self._broken
                await self._writer().room()
                self._pipe.resume()
            tasks.cancel_scope.cancel()

    def _on_chunk(self, chunk: bytes) -> None:
        """Handle a chunk, inside the reader's callback; an empty one is the end of input."""
        try:
            if not self._passed_on(chunk):
                for line in self._splitter.feed(chunk) if chunk else self._splitter.end():
                    self._take(line)
        except OSError as broken:
            self._broken = broken  # `run` raises it: an exception in a callback would be lost
        self._ended = not chunk
        is_full = not self._writer().has_room
        if is_full:
            self._pipe.pause()
        if self._ended or self._broken or is_full:
            self._attention.set()

    def _passed_on(self, chunk: bytes) -> bool:
        if self._pass_on is None or not chunk or chunk.find(b"\n") != len(chunk) - 1 or not self._splitter.is_empty:
            return False
        return self._pass_on(chunk)


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        raise
    except OSError:
        return b""
