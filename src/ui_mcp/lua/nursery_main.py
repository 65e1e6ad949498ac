"""The nursery: one small process with everything a world needs, which forks a world whenever the server asks for one.

It has one thread, reads one message at a time and answers each: a world costs a fork instead of an interpreter, and the
worlds share what they have in common. It ends when the server does, and so do the worlds, each at the end of its pipe.
"""

import gc
import os
import signal
import socket
from collections.abc import Sequence

from ui_mcp.lua.child_main import Pipe, serve
from ui_mcp.lua.nursery_process import MESSAGE
from ui_mcp.lua.runtime import Runtime

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
    """Fork a world that reads and writes these pipes; its process id, or the negative error number."""
    try:
        pid = os.fork()
    except OSError as error:
        pid = -(error.errno or 1)
    if pid == 0:
        _live(pipes, runtime)
    for pipe in pipes:
        os.close(pipe)
    return pid


def _live(pipes: Sequence[int], runtime: Runtime) -> None:
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
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _keep_control_alone() -> None:
    """Move the control socket away from the standard streams; close what else was inherited by accident."""
    os.dup2(0, CONTROL, inheritable=False)
    os.dup2(1, 0)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > CONTROL:
            try:
                os.close(int(name))
            except OSError:
                continue


if __name__ == "__main__":
    main()
