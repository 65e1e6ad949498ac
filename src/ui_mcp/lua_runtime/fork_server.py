"""The fork server: start it early, fork and reap workers."""

import atexit
import gc
import os
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import NoReturn

import ui_mcp
from ui_mcp.lua_runtime.vm import Runtime
from ui_mcp.lua_runtime.worker import Pipe, serve

FORKS = sys.platform == "linux"
"""Whether worlds come from a nursery; elsewhere each is started as a program."""

FROZEN_COMMAND = "lua-child"
"""The hidden command by which a self-contained executable starts itself as a child."""

FROZEN_NURSERY = "lua-nursery"
"""The hidden command by which it starts itself as the nursery."""

MESSAGE = struct.Struct("<iq")
"""What is said on the control socket, both ways: a number, and a process id or status.

A message that brings two pipes asks for a world that reads the first and writes the second; the answer is its process
id. One that does not asks for the end of that process; the answer is its exit status.
"""

_START = "import sys; sys.path[:0] = sys.argv[1:]; from ui_mcp.lua.{0} import main; main()"


class NurseryProcess:
    """A nursery's process and the socket on which it is asked for worlds."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (1, 2)]
            streams = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0), *nothing]
            words = command("nursery_main", FROZEN_NURSERY)
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


_living: list[NurseryProcess] = []
_ready: list[NurseryProcess] = []


def prepare() -> None:
    """Start a nursery that will be needed soon, unless there is one; failing that, worlds come without."""
    if FORKS and not _living:
        with suppress(OSError):
            _ready.append(NurseryProcess())


def dismiss() -> None:
    """End what was prepared; nobody will need it."""
    while _ready:
        _ready.pop().end()


def take() -> NurseryProcess:
    """Return the nursery that was prepared, or a new one."""
    return _ready.pop() if _ready else NurseryProcess()


def give_back(process: NurseryProcess) -> None:
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


CONTROL = 3
"""The nursery's only descriptor besides the standard ones."""


def main() -> None:
    """Bear and bury worlds until the server closes the control socket, which is descriptor 0 at the start."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would keep exit statuses from us
    _keep_control_alone()
    control = socket.socket(fileno=CONTROL)
    runtime = Runtime()
    gc.freeze()
    while True:
        data, pipes, _, _ = socket.recv_fds(control, MESSAGE.size, 2)
        if not data:
            os._exit(0)
        number, pid = MESSAGE.unpack(data)
        answer = _bear(pipes, runtime) if pipes else _bury(pid)
        control.send(MESSAGE.pack(number, answer))


def _bear(pipes: Sequence[int], runtime: Runtime) -> int:
    """Fork a world that reads and writes these pipes; its process id, or 0 when the system has no room for it."""
    try:
        pid = os.fork() or _live(pipes, runtime)
    except OSError:
        pid = 0
    for pipe in pipes:
        os.close(pipe)
    return pid


def _live(pipes: Sequence[int], runtime: Runtime) -> NoReturn:
    """Be the world; nothing of the nursery's is within reach, and nothing runs after it."""
    status = 1
    try:
        os.setsid()
        os.close(CONTROL)
        for pipe in pipes:
            os.set_inheritable(pipe, False)
        serve(Pipe(*pipes), runtime)
        status = 0
    finally:
        os._exit(status)


def _bury(pid: int) -> int:
    """End a world, unless it has ended, and say how it did."""
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:  # it has been buried before, and its number may be somebody else's
        return 0
    if not ended:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _keep_control_alone() -> None:
    """Move the control socket away from the standard streams; close what else was inherited by accident."""
    os.dup2(0, CONTROL, inheritable=False)
    os.dup2(1, 0)
    os.closerange(CONTROL + 1, 1 << 16)


if __name__ == "__main__":
    main()
