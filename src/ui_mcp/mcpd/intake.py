"""Chunks of bytes from a file descriptor, handed over in the event loop's own callback: no task has to wake first."""

import asyncio
import os
from collections.abc import Callable

import anyio

from ui_mcp.jsonrpc.pipes import CHUNK, is_pollable
from ui_mcp.processes import in_daemon_thread


class Intake:
    """Reads one descriptor to its end."""

    def __init__(self, fd: int, take: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._take = take
        self._ended = anyio.Event()
        self._flowing = anyio.Event()
        self._flowing.set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def pause(self) -> None:
        """Leave what comes in the pipe until `resume`."""
        if self._flowing.is_set() and not self._ended.is_set():
            self._flowing = anyio.Event()
            if self._loop is not None:
                self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Read on."""
        if not self._flowing.is_set():
            self._flowing.set()
            if self._loop is not None:
                self._loop.add_reader(self._fd, self._readable)

    async def run(self) -> None:
        """Hand over every chunk, and an empty one at the end."""
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
        chunk = _read(self._fd)
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


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except OSError:
        return b""
