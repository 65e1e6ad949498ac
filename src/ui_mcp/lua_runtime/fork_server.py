"""The fork server: a process with the engine loaded that forks workers and reaps them, and how to start one.

The server imports this module before everything else: only `main`, which runs in the fork server, imports the engine.
"""

import atexit
import gc
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import NoReturn

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

CONTROL = 3
"""The fork server's only descriptor besides the standard streams."""

_START = "import sys; sys.path[:0] = sys.argv[1:]; from ui_mcp.lua_runtime.{0} import main; main()"


def command(module: str, hidden: str) -> list[str]:
    """Return the arguments that run a module of this package as a program."""
    if getattr(sys, "frozen", False):
        return [sys.executable, hidden]
    found = find_spec("lupa")
    files = [ui_mcp.__file__, found.origin if found and found.origin else ui_mcp.__file__]
    folders = [os.path.dirname(os.path.dirname(file)) for file in files]
    # Isolated and without `site`: the child needs only two packages, and starts twice as fast.
    return [sys.executable, "-I", "-S", "-c", _START.format(module), *folders]


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
idle: list[ForkServerProcess] = []
"""Fork servers that no event loop uses."""


def prestart() -> None:
    """Start a fork server ahead of its first use, unless one runs; on failure, workers are spawned instead."""
    if FORKS and not _running:
        with suppress(OSError):
            idle.append(ForkServerProcess())


def stop() -> None:
    """End the fork servers that are not in use."""
    while idle:
        idle.pop().end()


def main() -> None:
    """Fork Lua workers and reap them until the server closes the control socket, which is descriptor 0 at the start."""
    from ui_mcp.lua_runtime.vm import LuaRuntime
    from ui_mcp.lua_runtime.worker import Pipe, serve

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if ignored, the kernel would discard exit statuses
    _isolate_control()
    control, runtime = socket.socket(fileno=CONTROL), LuaRuntime()

    def work(pipes: Sequence[int]) -> None:
        serve(Pipe(*pipes), runtime)

    # Keep the pages of the loaded engine shared after a fork: the collector would write to every object.
    gc.freeze()
    while True:
        data, pipes, _, _ = socket.recv_fds(control, MESSAGE.size, 2)
        if not data:
            os._exit(0)
        number, pid = MESSAGE.unpack(data)
        answer = _fork_worker(pipes, work) if pipes else _reap(pid)
        control.send(MESSAGE.pack(number, answer))


def _fork_worker(pipes: Sequence[int], work: Callable[[Sequence[int]], None]) -> int:
    """Fork a worker that reads and writes these pipes; return its pid, or 0 if the fork failed."""
    try:
        pid = os.fork() or _run_worker(pipes, work)
    except OSError:
        pid = 0
    for pipe in pipes:
        os.close(pipe)
    return pid


def _run_worker(pipes: Sequence[int], work: Callable[[Sequence[int]], None]) -> NoReturn:
    """Run the worker in the forked process; never return to the code of the fork server."""
    status = 1
    try:
        os.setsid()
        os.close(CONTROL)
        for pipe in pipes:
            os.set_inheritable(pipe, False)
        work(pipes)
        status = 0
    finally:
        os._exit(status)


def _reap(pid: int) -> int:
    """Kill a worker if it still runs, and return its exit status; 0 if it was reaped before."""
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:  # reaped before; the pid may belong to another process now
        return 0
    if not ended:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _isolate_control() -> None:
    """Move the control socket off the standard streams and close every other inherited descriptor."""
    os.dup2(0, CONTROL, inheritable=False)
    os.dup2(1, 0)
    os.closerange(CONTROL + 1, 1 << 16)


if __name__ == "__main__":
    main()
