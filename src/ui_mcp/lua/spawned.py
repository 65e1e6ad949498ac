"""A process started as a program of its own, where there is no nursery."""

import asyncio
import subprocess
from typing import cast

from ui_mcp.lua.process import Owner
from ui_mcp.lua_runtime.fork_server import FROZEN_COMMAND, command


async def spawn(owner: Owner) -> "Spawned":
    """Start a process for a world.

    Raises:
        OSError: it could not be started.
    """
    words, pipe = command("child_main", FROZEN_COMMAND), subprocess.PIPE
    process = Spawned(owner)
    await asyncio.get_running_loop().subprocess_exec(
        lambda: process, *words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
    )
    return process


class Spawned(asyncio.SubprocessProtocol):
    """A child of this process, at the other end of two pipes."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._open = 2
        """What must end before it has: the process, and the pipe with its last words."""
        self.pid = 0
        self._transport: asyncio.SubprocessTransport
        self._input: asyncio.WriteTransport

    def write(self, data: bytes) -> None:
        """Send at once, or as soon as there is room; to one that has ended, until its end is told, nothing."""
        if not self._input.is_closing():
            self._input.write(data)

    def kill(self) -> None:
        """End it and let go of its pipes."""
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what the loop made: the process and its input."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self.pid = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Pass on what it said."""
        self._owner.received(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that nothing more will be said."""
        if fd == 1:
            self._ended_in_part()

    def process_exited(self) -> None:
        """Note that the process is gone."""
        self._ended_in_part()

    def _ended_in_part(self) -> None:
        self._open -= 1
        if not self._open:
            self._owner.exited(self._transport.get_returncode())
