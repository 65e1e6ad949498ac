"""The server's side of the nursery: asks for worlds and for exit statuses, and starts another when it is gone."""

import asyncio
import os
import signal
import socket
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import cast

import anyio

from ui_mcp.lua import nursery_process
from ui_mcp.lua.nursery_process import MESSAGE, NurseryProcess
from ui_mcp.lua.process import Owner


async def fork(owner: Owner) -> "Forked | None":
    """Start a process for a world; None when the nursery ended meanwhile.

    Raises:
        OSError: the system has no room for another process.
    """
    nursery = here()
    ours, theirs = socket.socketpair()
    try:
        pid = await nursery.bear(theirs)
    except BaseException:
        ours.close()
        raise
    if pid is None or pid < 0:
        ours.close()
        if pid is None:
            return None
        raise OSError(-pid, os.strerror(-pid))
    process = Forked(nursery, pid, owner)
    with anyio.CancelScope(shield=True):
        await asyncio.get_running_loop().create_unix_connection(lambda: process, sock=ours)
    return process


class Forked(asyncio.Protocol):
    """A process the nursery bore, at the other end of a socket."""

    def __init__(self, nursery: "Nursery", pid: int, owner: Owner) -> None:
        self.pid = pid
        self._nursery = nursery
        self._owner = owner
        self._lost = False
        self._transport: asyncio.Transport

    def write(self, data: bytes) -> None:
        """Send at once, or as soon as there is room."""
        self._transport.write(data)

    def kill(self) -> None:
        """End it; its number is its own as long as nobody has asked for its exit status."""
        if not self._lost:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to it."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Pass on what it said."""
        self._owner.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ask how it ended."""
        self._lost = True
        self._nursery.bury(self.pid).add_done_callback(lambda told: self._owner.exited(told.result()))


@dataclass(frozen=True, slots=True)
class _Question:
    """What the nursery is to do: bear a world for `pipe`, or bury `pid`."""

    number: int
    pid: int
    pipe: socket.socket | None
    answer: "asyncio.Future[int | None]"


class Nursery:
    """A nursery as one event loop knows it; asked one thing at a time, so that no question waits for room."""

    def __init__(self, process: NurseryProcess) -> None:
        self.process = process
        self.gone = False
        self._loop = asyncio.get_running_loop()
        self._numbers = count(int.from_bytes(os.urandom(2)))
        self._questions: deque[_Question] = deque()
        self._loop.add_reader(process.control, self._hear)

    def bear(self, pipe: socket.socket) -> "asyncio.Future[int | None]":
        """Ask for a world; its process id, a negative error number, or None when the nursery is gone."""
        return self._ask(0, pipe)

    def bury(self, pid: int) -> "asyncio.Future[int | None]":
        """Ask how a world ended; None when the nursery is gone."""
        return self._ask(pid, None)

    def _ask(self, pid: int, pipe: socket.socket | None) -> "asyncio.Future[int | None]":
        question = _Question(next(self._numbers), pid, pipe, self._loop.create_future())
        self._questions.append(question)
        if self.gone:
            self._answer(None)
        elif len(self._questions) == 1:
            self._send(question)
        return question.answer

    def _send(self, question: _Question) -> None:
        message = [MESSAGE.pack(question.number, question.pid)]
        with suppress(OSError):  # it is gone, which `_hear` will find out
            if question.pipe is None:
                self.process.control.send(message[0])
            else:
                socket.send_fds(self.process.control, message, [question.pipe.fileno()])

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
        if self._questions and number == self._questions[0].number:
            self._answer(value)
            if self._questions:
                self._send(self._questions[0])

    def _answer(self, value: int | None) -> None:
        question = self._questions.popleft()
        if question.pipe is not None:
            question.pipe.close()
        if not question.answer.done():
            question.answer.set_result(value)
        elif question.pipe is not None and value is not None and value > 0:
            self.bury(value)  # whoever wanted this world has gone

    def _end(self) -> None:
        self.gone = True
        self._loop.remove_reader(self.process.control)
        self.process.end()
        while self._questions:
            self._answer(None)


_by_loop: dict[asyncio.AbstractEventLoop, Nursery] = {}


def here() -> Nursery:
    """Return the nursery of the running loop; a loop that was closed leaves its own to the next."""
    for loop in [loop for loop in _by_loop if loop.is_closed()]:
        left = _by_loop.pop(loop)
        if not left.gone:
            nursery_process.give_back(left.process)
    loop = asyncio.get_running_loop()
    nursery = _by_loop.get(loop)
    if nursery is None or nursery.gone:
        nursery = _by_loop[loop] = Nursery(nursery_process.take())
    return nursery
