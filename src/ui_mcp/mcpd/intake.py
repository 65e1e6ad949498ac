"""Chunks of bytes from a file descriptor, handed over in the event loop's own callback: no task has to wake first."""

import asyncio
import os
from collections.abc import Callable

import anyio

from ui_mcp.mcpd.pipes import CHUNK, in_daemon_thread, is_pollable


class Intake:
    """Reads one descriptor to its end."""

    def __init__(self, fd: int, take: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._take = take
        self._ended = anyio.Event()

    async def run(self) -> None:
        """Hand over every chunk, and an empty one at the end."""
        if not is_pollable(self._fd):
            await self._threaded()
            return
        loop = asyncio.get_running_loop()
        loop.add_reader(self._fd, self._readable, loop)
        try:
            await self._ended.wait()
        finally:
            loop.remove_reader(self._fd)

    def _readable(self, loop: asyncio.AbstractEventLoop) -> None:
        chunk = _read(self._fd)
        if not chunk:
            loop.remove_reader(self._fd)
            self._ended.set()
        self._take(chunk)

    async def _threaded(self) -> None:
        while chunk := await in_daemon_thread(lambda: _read(self._fd)):
            self._take(chunk)
        self._take(b"")


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except OSError:
        return b""
