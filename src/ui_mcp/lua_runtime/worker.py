"""The child process: reads entries from its input, runs them in one core, writes outputs and answers.

The standard streams are moved away first, so that nothing but messages travels on the pipe.
"""

import gc
import json
import os
import signal
import time

from ui_mcp.lua_runtime.messages import EXIT_OVERFULL, EXIT_OVERRUN, HEAD, Scalar, decode_request, encode_reply, length
from ui_mcp.lua_runtime.vm import LuaRuntime, LuaVm

GRACE = 1.0
"""Seconds after its budget when code that no hook can stop ends the process."""


def main() -> None:
    """Serve one world until the parent closes the pipe."""
    serve(Pipe(*_streams()), LuaRuntime())


def serve(pipe: "Pipe", runtime: LuaRuntime) -> None:
    """Make a world of the runtime, with what the parent says first, and serve it until the pipe is closed."""
    launch = pipe.read()
    if launch is None:
        return

    def emit(kind: str, text: str, number: float) -> None:
        pipe.write("out", kind, text, float(number))

    core = LuaVm(json.loads(str(launch[0])), emit, _watchdog(), runtime)
    gc.freeze()
    while (entry := pipe.read()) is not None:
        op, count, *rest = entry
        facts = int(count or 0)
        pipe.write("end", *core.call(str(op), tuple(rest[facts:]), tuple(rest[:facts])))
        if core.overfull:
            os._exit(EXIT_OVERFULL)


class Pipe:
    """The parent at the other end."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = os.fdopen(source, "rb")
        self._sink = sink

    def read(self) -> list[Scalar] | None:
        """Wait for a message; None when the parent is gone."""
        head = self._source.read(HEAD)
        if len(head) < HEAD:
            return None
        return decode_request(self._source.read(length(head)))

    def write(self, *values: Scalar) -> None:
        """Send a message whole."""
        data = memoryview(encode_reply(values))
        while data:
            data = data[os.write(self._sink, data) :]


def _streams() -> tuple[int, int]:
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return source, sink


def _watchdog() -> "AlarmTimer | DeadlineThread":
    """End the process when Lua is stuck where no hook reaches, in a pattern match for instance."""
    return AlarmTimer() if hasattr(signal, "setitimer") else DeadlineThread()


class AlarmTimer:
    """The system's alarm, whose default action ends the process whatever it is doing."""

    def __call__(self, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE if seconds else 0)


class DeadlineThread:
    """A thread that looks at the clock, where there is no alarm; Lua runs without Python's lock."""

    def __init__(self) -> None:
        import threading

        self._deadline = 0.0
        threading.Thread(target=self._check_progress, daemon=True).start()

    def __call__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds + GRACE if seconds else 0.0

    def _check_progress(self) -> None:
        while True:
            time.sleep(0.5)
            if self._deadline and time.monotonic() > self._deadline:
                os._exit(EXIT_OVERRUN)


if __name__ == "__main__":
    main()
