"""The fork server: a process with the engine loaded that forks workers and reaps them."""

import gc
import os
import signal
import socket
from collections.abc import Sequence
from typing import NoReturn

from ui_mcp.lua_runtime.fork_server_process import MESSAGE
from ui_mcp.lua_runtime.vm import LuaRuntime
from ui_mcp.lua_runtime.worker import Pipe, serve

CONTROL = 3
"""The fork server's only descriptor besides the standard streams."""


def main() -> None:
    """Fork Lua workers and reap them until the server closes the control socket, which is descriptor 0 at the start."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if ignored, the kernel would discard exit statuses
    _isolate_control()
    control = socket.socket(fileno=CONTROL)
    runtime = LuaRuntime()
    # Keep the pages of the loaded engine shared after a fork: the collector would write to every object.
    gc.freeze()
    while True:
        data, pipes, _, _ = socket.recv_fds(control, MESSAGE.size, 2)
        if not data:
            os._exit(0)
        number, pid = MESSAGE.unpack(data)
        answer = _fork_worker(pipes, runtime) if pipes else _reap(pid)
        control.send(MESSAGE.pack(number, answer))


def _fork_worker(pipes: Sequence[int], runtime: LuaRuntime) -> int:
    """Fork a worker that reads and writes these pipes; return its pid, or 0 if the fork failed."""
    try:
        pid = os.fork() or _run_worker(pipes, runtime)
    except OSError:
        pid = 0
    for pipe in pipes:
        os.close(pipe)
    return pid


def _run_worker(pipes: Sequence[int], runtime: LuaRuntime) -> NoReturn:
    """Run the worker in the forked process; never return to the code of the fork server."""
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
