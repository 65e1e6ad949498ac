"""The fork server: start it early, fork and reap workers."""

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
"""The nursery's only descriptor besides the standard ones."""


def main() -> None:
    """Bear and bury worlds until the server closes the control socket, which is descriptor 0 at the start."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would keep exit statuses from us
    _keep_control_alone()
    control = socket.socket(fileno=CONTROL)
    runtime = LuaRuntime()
    gc.freeze()
    while True:
        data, pipes, _, _ = socket.recv_fds(control, MESSAGE.size, 2)
        if not data:
            os._exit(0)
        number, pid = MESSAGE.unpack(data)
        answer = _fork_worker(pipes, runtime) if pipes else _reap(pid)
        control.send(MESSAGE.pack(number, answer))


def _fork_worker(pipes: Sequence[int], runtime: LuaRuntime) -> int:
    """Fork a world that reads and writes these pipes; its process id, or 0 when the system has no room for it."""
    try:
        pid = os.fork() or _run_worker(pipes, runtime)
    except OSError:
        pid = 0
    for pipe in pipes:
        os.close(pipe)
    return pid


def _run_worker(pipes: Sequence[int], runtime: LuaRuntime) -> NoReturn:
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


def _reap(pid: int) -> int:
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
