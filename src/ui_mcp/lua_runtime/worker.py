"""The worker process: reads requests from a pipe, runs them in one Lua VM, writes outputs and replies.

The standard streams are moved away first, so that only messages are written to the pipe.
"""

import json
import os
import signal
import time
from _thread import start_new_thread

from ui_mcp.lua_runtime.messages import EXIT_OVERFULL, EXIT_OVERRUN, HEAD, Scalar, decode_request, encode_reply, length
from ui_mcp.lua_runtime.vm import LuaRuntime, LuaVm

GRACE = 1.0
"""Seconds after the time limit when the process exits because no hook could stop the code."""


def main() -> None:
    """Serve one Lua VM until the server closes the pipe."""
    serve(Pipe(*take_streams()), LuaRuntime())


def serve(pipe: "Pipe", runtime: LuaRuntime) -> None:
    """Set up a session with the settings that the server sends first, and serve it until the pipe closes."""
    settings = pipe.read()
    if settings is None:
        return

    def emit(kind: str, text: str, number: float) -> None:
        pipe.write("out", kind, text, float(number))

    vm = LuaVm(json.loads(str(settings[0])), emit, new_watchdog(), runtime)
    while (request := pipe.read()) is not None:
        op, count, *rest = request
        facts = int(count or 0)
        pipe.write("end", *vm.call(str(op), tuple(rest[facts:]), tuple(rest[:facts])))
        if vm.overfull:
            os._exit(EXIT_OVERFULL)


class Pipe:
    """The connection to the server."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = os.fdopen(source, "rb")
        self._sink = sink

    def read(self) -> list[Scalar] | None:
        """Wait for a message; return None when the server has closed the pipe."""
        head = self._source.read(HEAD)
        if len(head) < HEAD:
            return None
        return decode_request(self._source.read(length(head)))

    def write(self, *values: Scalar) -> None:
        """Send one message, complete."""
        data = memoryview(encode_reply(values))
        while data:
            data = data[os.write(self._sink, data) :]


def take_streams() -> tuple[int, int]:
    """Return copies of stdin and stdout, and let the standard streams lead nowhere."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    return source, sink


def new_watchdog() -> "AlarmTimer | DeadlineThread":
    """Return a watchdog that ends the process when Lua is stuck where no hook runs, in a pattern match for instance."""
    return AlarmTimer() if hasattr(signal, "setitimer") else DeadlineThread()


class AlarmTimer:
    """Arms SIGALRM, whose default action ends the process whatever it is doing."""

    def __call__(self, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE if seconds else 0)


class DeadlineThread:
    """Checks the deadline in a thread, where there is no SIGALRM; Lua runs without holding the GIL."""

    def __init__(self) -> None:
        self._deadline = 0.0
        # Not `threading`: it runs code in every forked worker, which takes memory in each.
        start_new_thread(self._check_progress, ())

    def __call__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds + GRACE if seconds else 0.0

    def _check_progress(self) -> None:
        while True:
            time.sleep(0.5)
            if self._deadline and time.monotonic() > self._deadline:
                os._exit(EXIT_OVERRUN)


if __name__ == "__main__":
    main()
