"""Starts and stops the process of the fork server."""

import atexit
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib.util import find_spec

import ui_mcp

FORKS = sys.platform == "linux"
"""Whether workers are forked from a fork server; elsewhere each is started as a program of its own."""

FROZEN_COMMAND = "lua-child"
"""Hidden command with which a self-contained executable starts itself as a worker."""

FROZEN_FORK_SERVER = "lua-fork-server"
"""Hidden command with which it starts itself as the fork server."""

MESSAGE = struct.Struct("<iq")
"""Message on the control socket, in both directions: request number, and pid or exit status.

A request with two pipes forks a worker that reads the first and writes the second; the reply is its pid.
A request without pipes kills and reaps that pid; the reply is its exit status.
"""

_START = "import sys; sys.path[:0] = sys.argv[1:]; from ui_mcp.lua_runtime.{0} import main; main()"


class ForkServerProcess:
    """The process of a fork server and its control socket."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            null = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (1, 2)]
            streams = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0), *null]
            argv = command("fork_server", FROZEN_FORK_SERVER)
            self.pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=streams)
        self.control.setblocking(False)
        atexit.register(self.end)
        _running.append(self)

    def end(self) -> None:
        """Kill and reap the fork server; its workers keep running."""
        atexit.unregister(self.end)
        _running.remove(self)
        self.control.close()
        with suppress(ProcessLookupError, ChildProcessError):  # both mean that it has exited
            self.kill()
            os.waitpid(self.pid, 0)

    def kill(self) -> None:
        """Kill the process; the pid stays valid until `end` reaps it."""
        os.kill(self.pid, signal.SIGKILL)


_running: list[ForkServerProcess] = []
_idle: list[ForkServerProcess] = []


def prestart() -> None:
    """Start a fork server ahead of its first use, unless one runs; on failure, workers are spawned instead."""
    if FORKS and not _running:
        with suppress(OSError):
            _idle.append(ForkServerProcess())


def stop() -> None:
    """End the fork servers that are not in use."""
    while _idle:
        _idle.pop().end()


def acquire() -> ForkServerProcess:
    """Return an idle fork server, or start one.

    Raises:
        OSError: it could not be started.
    """
    return _idle.pop() if _idle else ForkServerProcess()


def release(process: ForkServerProcess) -> None:
    """Keep a fork server for the next `acquire`."""
    _idle.append(process)


def command(module: str, hidden: str) -> list[str]:
    """Return the arguments that run a module of this package as a program."""
    if getattr(sys, "frozen", False):
        return [sys.executable, hidden]
    program = _grandparent(ui_mcp.__file__)
    found = find_spec("lupa")
    lupa = _grandparent(found.origin) if found and found.origin else program
    # Isolated and without `site`: the child needs only two packages, and starts twice as fast.
    return [sys.executable, "-I", "-S", "-c", _START.format(module), program, lupa]


def _grandparent(file: str) -> str:
    return os.path.dirname(os.path.dirname(file))
