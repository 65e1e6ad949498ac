"""The server's side of the nursery: asks for worlds and for exit statuses, and starts another when it is gone."""

import asyncio
import os
import signal
import socket
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import IO

import anyio

from ui_mcp.lua_runtime import fork_server_process
from ui_mcp.lua_runtime.fork_server_process import MESSAGE, ForkServerProcess
from ui_mcp.lua_runtime.interface import ProcessListener

PATIENCE = 30.0
"""Seconds after which a nursery that does not answer is ended, and replaced like one that died."""


async def fork(owner: ProcessListener) -> "ForkedProcess | None":
    """Start a process for a world; None when there is no nursery, it ended meanwhile, or it has no room."""
    try:
        nursery = for_running_loop()
    except OSError:
        return None
    source, answers = os.pipe()
    questions, sink = os.pipe()
    ours = os.fdopen(source, "rb", 0), os.fdopen(sink, "wb", 0)
    pid = None
    try:
        pid = await nursery.fork_worker(questions, answers)
    finally:
        if pid is None:
            _close(ours)
    return None if pid is None else await _attached(ForkedProcess(nursery, pid, owner), ours)


async def _attached(process: "ForkedProcess", ours: tuple[IO[bytes], IO[bytes]]) -> "ForkedProcess":
    try:
        with anyio.CancelScope(shield=True):
            await process.connect(*ours)
    except BaseException:
        process.discard()
        raise
    return process


def _close(files: Iterable[IO[bytes]]) -> None:
    for file in files:
        file.close()


class ForkedProcess(asyncio.Protocol):
    """A process the nursery bore, at the other end of two pipes, which are quicker than a socket."""

    def __init__(self, nursery: "ForkServerClient", pid: int, owner: ProcessListener) -> None:
        self.pid = pid
        self._nursery = nursery
        self._owner = owner
        self._lost = False
        self._sink: asyncio.WriteTransport

    async def connect(self, source: IO[bytes], sink: IO[bytes]) -> None:
        """Let the loop watch the pipes."""
        loop = asyncio.get_running_loop()
        self._sink, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sink)
        await loop.connect_read_pipe(lambda: self, source)

    def write(self, data: bytes) -> None:
        """Send at once, or as soon as there is room; to one that has ended, until its end is told, nothing."""
        if not self._sink.is_closing():  # uvloop raises where asyncio says nothing
            self._sink.write(data)

    def kill(self) -> None:
        """End it; its number is its own as long as nobody has asked for its exit status."""
        if not self._lost:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def discard(self) -> None:
        """End it unheard; nobody will ask for its status."""
        self._nursery.reap(self.pid)

    def data_received(self, data: bytes) -> None:
        """Pass on what it said."""
        self._owner.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ask how it ended."""
        self._lost = True
        if not self._sink.is_closing():
            self._sink.abort()
        self._nursery.reap(self.pid).add_done_callback(lambda told: self._owner.exited(told.result()))


@dataclass(frozen=True, slots=True)
class _Question:
    """What the nursery is to do: bear a world at the other end of `pipes`, or bury `pid`."""

    number: int
    pid: int
    pipes: tuple[int, ...]
    answer: "asyncio.Future[int | None]"


class ForkServerClient:
    """A nursery as one event loop knows it; asked one thing at a time, so that no question waits for room."""

    def __init__(self, process: ForkServerProcess) -> None:
        self.process = process
        self.gone = False
        self._loop = asyncio.get_running_loop()
        self._numbers = count(int.from_bytes(os.urandom(2)))
        self._questions: deque[_Question] = deque()
        self._asked: _Question | None = None
        """The first question, once it has been sent."""
        self._late: asyncio.TimerHandle | None = None
        self._loop.add_reader(process.control, self._hear)

    def fork_worker(self, questions: int, answers: int) -> "asyncio.Future[int | None]":
        """Ask for a world with these pipes; its process id, or None when the nursery is gone or has no room."""
        return self._ask(0, questions, answers)

    def reap(self, pid: int) -> "asyncio.Future[int | None]":
        """Ask how a world ended; None when the nursery is gone."""
        return self._ask(pid)

    def _ask(self, pid: int, *pipes: int) -> "asyncio.Future[int | None]":
        question = _Question(next(self._numbers), pid, pipes, self._loop.create_future())
        self._questions.append(question)
        if self.gone:
            self._answer(None)
        else:
            self._send()
        return question.answer

    def _send(self) -> None:
        if self._asked is not None or not self._questions:
            return
        self._asked = question = self._questions[0]
        self._late = self._loop.call_later(PATIENCE, self.process.kill)
        with suppress(OSError):  # it is gone, which `_hear` will find out
            socket.send_fds(self.process.control, [MESSAGE.pack(question.number, question.pid)], question.pipes)

    def _hear(self) -> None:
        try:
            data = self.process.control.recv(MESSAGE.size)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        number, value = MESSAGE.unpack(data)
        if self._asked is not None and number == self._asked.number:
            self._answer(value)
            self._send()

    def _answer(self, value: int | None) -> None:
        question, self._asked = self._questions.popleft(), None
        if self._late is not None:
            self._late.cancel()
        for pipe in question.pipes:
            os.close(pipe)
        born = value if question.pipes and value else None
        if not question.answer.done():
            question.answer.set_result(born if question.pipes else value)
        elif born is not None:
            self.reap(born)  # whoever wanted this world has gone

    def _end(self) -> None:
        self.gone = True
        self._loop.remove_reader(self.process.control)
        self.process.end()
        while self._questions:
            self._answer(None)


_by_loop: dict[asyncio.AbstractEventLoop, ForkServerClient] = {}


def for_running_loop() -> ForkServerClient:
    """Return the nursery of the running loop; a loop that was closed leaves its own to the next."""
    for loop in [loop for loop in _by_loop if loop.is_closed()]:
        left = _by_loop.pop(loop)
        if not left.gone:
            fork_server_process.release(left.process)
    loop = asyncio.get_running_loop()
    nursery = _by_loop.get(loop)
    if nursery is None or nursery.gone:
        nursery = _by_loop[loop] = ForkServerClient(fork_server_process.acquire())
    return nursery
