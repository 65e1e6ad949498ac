"""Interface between sessions and Lua workers: replies, outputs, faults; the operations are in `wire.Op`."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple, Protocol

from ui_mcp.errors import (
    LuaError,
    LuaMemoryError,
    LuaSyntaxError,
    LuaTimeoutError,
    NotFoundError,
    UiMcpError,
    WireError,
)
from ui_mcp.jsontypes import loads
from ui_mcp.wire import FaultCode, Op, OutputKind

Scalar = str | bytes | int | float | bool | None
"""A value that may be passed to or from a worker; tables never are."""


class EntryContext(NamedTuple):
    """What Lua may ask about its session, as of this call, in the order of the entry point's parameters."""

    polling: bool = False
    """Whether a caller is waiting for events."""
    waited: float = 0.0
    """Seconds since the last wait ended; 0 while a caller waits."""
    pending: int = 0
    """Events in the queue."""
    status: str = "{}"
    """JSON text that `mcp:status()` returns."""
    timing: bool = False
    """Measure the compute time of each variable, because a client is inspecting them."""


EMPTY_CONTEXT = EntryContext()


@dataclass(frozen=True, slots=True)
class LuaFault:
    """Why a call failed."""

    code: str
    """A `FaultCode`, unless the worker was tampered with."""
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    result: str = "null"
    """JSON text."""
    fault: LuaFault | None = None


class OutputSink(Protocol):
    """Receives the side effects of a worker, at once and in order, on the event loop; its methods must not block."""

    def frame(self, connection: int, text: str) -> None:
        """Send the changes to one page; a call sends at most one frame per page, even after a fault."""
        ...

    def event(self, text: str) -> None:
        """Queue one event, as JSON text."""
        ...

    def timer(self, handle: int, seconds: float) -> None:
        """Request `Op.TIMER` after `seconds`; an interval timer requests it again after each run."""
        ...

    def cancel(self, handle: int) -> None:
        """Cancel a timer; unknown handles are ignored."""
        ...

    def note(self, kind: str, text: str) -> None:
        """Report any other `OutputKind`."""
        ...

    def ended(self, reason: str) -> None:
        """Report that the worker exited by itself; every further call raises `SessionGoneError`."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """Everything a worker needs to start, as plain values that can be sent to another process."""

    base_dir: str
    project: str
    session_id: str = ""
    bundle_lua: str = ""
    """Directory of the bundled Lua modules; searched last."""
    max_seconds: float = 5.0
    max_memory_mb: int = 256
    verbosity: int = 0
    log: str = ""
    """Directory of lua.log and lua-err.log; empty = `{base_dir}/log`."""
    status: str = "{}"
    permissions: Mapping[str, object] = field(default_factory=dict)
    """The fields of `[lua.permissions]`."""
    protected: tuple[str, ...] = ()
    """Files and directories that app code may never read or write, whatever the permissions say."""

    def settings(self) -> dict[str, object]:
        """Return the fields as values that can be written as JSON."""
        log = self.log or f"{self.base_dir}/log"
        return {**asdict(self), "permissions": dict(self.permissions), "log": log}


class Worker(Protocol):
    """A running Lua VM. It runs one call at a time; the session's lock ensures that."""

    def call(self, op: Op, *args: Scalar, facts: EntryContext = EMPTY_CONTEXT) -> Awaitable[Reply]:
        """Start one operation now; its outputs are delivered before the reply, even if the caller was cancelled.

        Raises:
            SessionGoneError: the worker has ended.
        """
        ...

    async def close(self) -> None:
        """End the worker; safe to call twice."""
        ...


class WorkerHost(Protocol):
    async def launch(self, config: WorkerConfig, outputs: OutputSink) -> Worker:
        """Start a worker and run the project's start-up files.

        Raises:
            UiMcpError: main.lua or mcp.lua failed.
        """
        ...


def stopped(pid: int) -> bool:
    """Return whether a process is stopped (by SIGSTOP or a debugger); False where /proc is missing."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may itself contain spaces and parentheses.
            return file.read().rpartition(b")")[2].split()[0] in {b"T", b"t"}
    except (OSError, IndexError):
        return False


class ProcessListener(Protocol):
    """Receives the output and the exit of a process, on the event loop."""

    def received(self, data: bytes) -> None:
        """Receive output of the process, in pieces of any size."""
        ...

    def exited(self, status: int | None) -> None:
        """Receive the exit status, once and last: a negative signal number, or None if it is unknown."""
        ...


class Process(Protocol):
    """A process with a pipe in both directions."""

    pid: int

    def write(self, data: bytes) -> None:
        """Send, or queue until the pipe has room."""
        ...

    def kill(self) -> None:
        """Kill it; safe to call twice."""
        ...


_KINDS = frozenset({str, int, float, bool, type(None)})

ERRORS: dict[str, type[UiMcpError]] = {
    FaultCode.LUA_ERROR: LuaError,
    FaultCode.LUA_SYNTAX: LuaSyntaxError,
    FaultCode.TIMEOUT: LuaTimeoutError,
    FaultCode.MEMORY: LuaMemoryError,
    FaultCode.NOT_FOUND: NotFoundError,
    FaultCode.INVALID: WireError,
}
"""The error of each fault that a call can have; the other codes appear only in messages to a page."""

START_FAILED = "Lua start-up failed: "


def decode_reply(body: bytes) -> list[Scalar]:
    """Decode one message of a worker.

    Raises:
        ValueError: it is not a list of scalars.
    """
    values = loads(body)
    # The worker runs app code, which may have got hold of its pipe.
    if type(values) is not list or not values or not _KINDS.issuperset(map(type, values)):
        raise ValueError("not a message")
    return values


def parse_reply(values: Sequence[Scalar], outputs: OutputSink) -> Reply:
    """Read code, message, traceback and result; send the frames that follow to `outputs`."""
    code, message, traceback, result, *frames = values
    for at in range(0, len(frames), 2):
        outputs.frame(int(frames[at] or 0), str(frames[at + 1]))
    return Reply(str(result), LuaFault(str(code), str(message), str(traceback)) if code else None)


def dispatch_output(outputs: OutputSink, kind: str, text: str, number: float) -> None:
    """Call the method of `outputs` for one streamed output."""
    match kind:
        case OutputKind.EVENT:
            outputs.event(text)
        case OutputKind.TIMER:
            outputs.timer(int(text), number)
        case OutputKind.CANCEL:
            outputs.cancel(int(text))
        case _:
            outputs.note(kind, text)


def raise_for_fault(reply: Reply, prefix: str = "") -> Reply:
    """Return `reply` if the call succeeded.

    Raises:
        UiMcpError: it did not; Lua's traceback is in the details, and the message begins with `prefix`.
    """
    fault = reply.fault
    if fault is None:
        return reply
    # A worker that was tampered with may send any code.
    raise ERRORS.get(fault.code, LuaError)(prefix + fault.message, traceback=fault.traceback)
