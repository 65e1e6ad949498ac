"""The process of the fork server: starts it early and ends it."""

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
"""Whether worlds come from a nursery; elsewhere each is started as a program."""

FROZEN_COMMAND = "lua-child"
"""The hidden command by which a self-contained executable starts itself as a child."""

FROZEN_FORK_SERVER = "lua-nursery"
"""The hidden command by which it starts itself as the nursery."""

MESSAGE = struct.Struct("<iq")
"""What is said on the control socket, both ways: a number, and a process id or status.

A message that brings two pipes asks for a world that reads the first and writes the second; the answer is its process
id. One that does not asks for the end of that process; the answer is its exit status.
"""

_START = "import sys; sys.path[:0] = sys.argv[1:]; from ui_mcp.lua_runtime.{0} import main; main()"


class ForkServerProcess:
    """A nursery's process and the socket on which it is asked for worlds."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (1, 2)]
            streams = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0), *nothing]
            words = command("fork_server", FROZEN_FORK_SERVER)
            self.pid = os.posix_spawn(words[0], words, os.environ, file_actions=streams)
        self.control.setblocking(False)
        atexit.register(self.end)
        _living.append(self)

    def end(self) -> None:
        """End the process; worlds that still live go on."""
        atexit.unregister(self.end)
        _living.remove(self)
        self.control.close()
        with suppress(ProcessLookupError, ChildProcessError):  # both mean that it is over
            self.kill()
            os.waitpid(self.pid, 0)

    def kill(self) -> None:
        """Let the process end; its number is its own until `end` has seen it off."""
        os.kill(self.pid, signal.SIGKILL)


_living: list[ForkServerProcess] = []
_ready: list[ForkServerProcess] = []


def prestart() -> None:
    """Start a nursery that will be needed soon, unless there is one; failing that, worlds come without."""
    if FORKS and not _living:
        with suppress(OSError):
            _ready.append(ForkServerProcess())


def stop() -> None:
    """End what was prepared; nobody will need it."""
    while _ready:
        _ready.pop().end()


def acquire() -> ForkServerProcess:
    """Return the nursery that was prepared, or a new one."""
    return _ready.pop() if _ready else ForkServerProcess()


def release(process: ForkServerProcess) -> None:
    """Keep a nursery for whoever comes next."""
    _ready.append(process)


def command(module: str, hidden: str) -> list[str]:
    """Return the words that start a module of this package as a program of its own."""
    if getattr(sys, "frozen", False):
        return [sys.executable, hidden]
    program = _above(ui_mcp.__file__)
    found = find_spec("lupa")
    lupa = _above(found.origin) if found and found.origin else program
    # Isolated and without `site`: a child needs two packages, and starts in half the time.
    return [sys.executable, "-I", "-S", "-c", _START.format(module), program, lupa]


def _above(file: str) -> str:
    return os.path.dirname(os.path.dirname(file))
