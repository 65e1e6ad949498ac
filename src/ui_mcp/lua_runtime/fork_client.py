"""Asks the fork server for workers and exit statuses, and replaces it when it exits."""

import asyncio
import os
import signal
import socket
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from typing import IO

import anyio

from ui_mcp.lua_runtime import fork_server
from ui_mcp.lua_runtime.fork_server import MESSAGE, ForkServerProcess
from ui_mcp.lua_runtime.interface import ProcessListener

REPLY_TIMEOUT = 30.0
"""Seconds after which a fork server that does not reply is killed and replaced."""


async def fork(owner: ProcessListener) -> "ForkedProcess | None":
    """Fork a worker process; return None if there is no fork server, it exited meanwhile, or the fork failed."""
    try:
        server = for_running_loop()
    except OSError:
        return None
    source, replies = os.pipe()
    requests, sink = os.pipe()
    with ExitStack() as ours:
        files = [ours.enter_context(file) for file in (os.fdopen(source, "rb", 0), os.fdopen(sink, "wb", 0))]
        pid = await server.fork_worker(requests, replies)
        if pid is None:
            return None
        ours.pop_all()  # the transports close them
    process = ForkedProcess(server, pid, owner)
    try:
        with anyio.CancelScope(shield=True):
            await process.connect(*files)
    except BaseException:
        server.reap(pid)
        raise
    return process


class ForkedProcess(asyncio.Protocol):
    """A worker forked by the fork server, connected by two pipes, which are faster than a socket."""

    def __init__(self, server: "ForkServerClient", pid: int, owner: ProcessListener) -> None:
        self.pid = pid
        self._server = server
        self._owner = owner
        self._lost = False
        self._sink: asyncio.WriteTransport

    async def connect(self, source: IO[bytes], sink: IO[bytes]) -> None:
        """Attach both pipes to the event loop."""
        loop = asyncio.get_running_loop()
        self._sink, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sink)
        await loop.connect_read_pipe(lambda: self, source)

    def write(self, data: bytes) -> None:
        """Send, or queue until the pipe has room; do nothing once the worker has exited."""
        if not self._sink.is_closing():  # uvloop raises on a closed transport, asyncio ignores the write
            self._sink.write(data)

    def kill(self) -> None:
        if not self._lost:
            # Safe: the pid cannot be reused before the fork server has reaped it.
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def data_received(self, data: bytes) -> None:
        self._owner.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fetch the exit status and report it to the owner."""
        self._lost = True
        if not self._sink.is_closing():
            self._sink.abort()
        self._server.reap(self.pid).add_done_callback(lambda status: self._owner.exited(status.result()))


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to the fork server: fork a worker that uses `pipes`, or reap `pid`."""

    number: int
    pid: int
    pipes: tuple[int, ...]
    reply: "asyncio.Future[int | None]"


class ForkServerClient:
    """One event loop's connection to a fork server; sends one request at a time, so that a send never blocks."""

    def __init__(self, process: ForkServerProcess) -> None:
        self.process = process
        self.gone = False
        self._loop = asyncio.get_running_loop()
        # From a random number on: a reply to the client of an earlier event loop must match none of ours.
        self._numbers = count(int.from_bytes(os.urandom(2)))
        self._requests: deque[_Request] = deque()
        self._sent: _Request | None = None
        """The first request in the queue, once it has been sent."""
        self._timeout: asyncio.TimerHandle | None = None
        self._loop.add_reader(process.control, self._read_reply)

    def fork_worker(self, requests: int, replies: int) -> "asyncio.Future[int | None]":
        """Fork a worker with these pipes; the result is its pid, or None if the server exited or the fork failed."""
        return self._request(0, requests, replies)

    def reap(self, pid: int) -> "asyncio.Future[int | None]":
        """Kill a worker if it still runs; the result is its exit status, or None if the fork server exited."""
        return self._request(pid)

    def _request(self, pid: int, *pipes: int) -> "asyncio.Future[int | None]":
        request = _Request(next(self._numbers), pid, pipes, self._loop.create_future())
        self._requests.append(request)
        if self.gone:
            self._resolve(None)
        else:
            self._send()
        return request.reply

    def _send(self) -> None:
        if self._sent is not None or not self._requests:
            return
        self._sent = request = self._requests[0]
        self._timeout = self._loop.call_later(REPLY_TIMEOUT, self.process.kill)
        with suppress(OSError):  # the server has exited; `_read_reply` will notice
            socket.send_fds(self.process.control, [MESSAGE.pack(request.number, request.pid)], request.pipes)

    def _read_reply(self) -> None:
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
        if self._sent is not None and number == self._sent.number:
            self._resolve(value)
            self._send()

    def _resolve(self, value: int | None) -> None:
        request, self._sent = self._requests.popleft(), None
        if self._timeout is not None:
            self._timeout.cancel()
        for pipe in request.pipes:
            os.close(pipe)
        forked = value if request.pipes and value else None
        if not request.reply.done():
            request.reply.set_result(forked if request.pipes else value)
        elif forked is not None:
            self.reap(forked)  # the caller was cancelled meanwhile

    def _end(self) -> None:
        self.gone = True
        self._loop.remove_reader(self.process.control)
        self.process.end()
        while self._requests:
            self._resolve(None)


_by_loop: dict[asyncio.AbstractEventLoop, ForkServerClient] = {}


def for_running_loop() -> ForkServerClient:
    """Return the fork server of the running loop; a new loop takes over the server of a closed one."""
    for loop in [loop for loop in _by_loop if loop.is_closed()]:
        unused = _by_loop.pop(loop)
        if not unused.gone:
            fork_server.idle.append(unused.process)
    loop = asyncio.get_running_loop()
    client = _by_loop.get(loop)
    if client is None or client.gone:
        process = fork_server.idle.pop() if fork_server.idle else ForkServerProcess()
        client = _by_loop[loop] = ForkServerClient(process)
    return client
