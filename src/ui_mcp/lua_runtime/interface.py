"""Worker and WorkerHost protocols, Op, Reply, LuaFault, fault → error (one map)."""

from asyncio import Future
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from ui_mcp.errors import LuaError, LuaMemoryError, LuaSyntaxError, LuaTimeoutError
from ui_mcp.jsontypes import loads

Flat = str | bytes | int | float | bool | None
"""What may cross the border. Tables never do."""


class Op(StrEnum):
    """What can be asked of a world; the comment names the arguments and the JSON of `Reply.result`."""

    OPEN = "open"  # (conn) a page connected; conn is the session's number for it
    CLOSE = "close"  # (conn) that page is gone: its variables are dropped
    FRAME = "frame"  # (conn, text) what the page sent
    RUN = "run"  # (code) → the first returned value, or {"non-json": …}
    DISPLAY = "display"  # (name) → true; a fault when the app is not there
    TIMER = "timer"  # (handle) a timer is due
    RELOAD = "reload"  # (path) a Lua file changed → true when this world had loaded it
    VIEWDEFS = "viewdefs"  # (text of `ViewdefStore.bundle`) added or changed viewdefs
    REFRESH = "refresh"  # () nothing but change detection
    STATE = "state"  # () → mcp.state or mcp.value
    VARIABLES = "variables"  # () → the list of all variables
    NOTICE = "notice"  # (JSON text) tell the person at every page


class EntryContext(NamedTuple):
    """What Lua may ask about its surroundings, as of this entry, in the order the door takes them."""

    polling: bool = False
    """Somebody waits for events right now."""
    waited: float = 0.0
    """Seconds since the last wait ended; 0 while somebody waits."""
    pending: int = 0
    """Events in the queue."""
    room: int = 10_000
    """Events that still fit into the queue."""
    room_bytes: int = 16 * 1024 * 1024
    """Bytes of events that still fit into the queue."""
    status: str = "{}"
    """JSON text of what `mcp:status()` returns."""
    timing: bool = False
    """Measure how long each variable takes; somebody looks at the variables."""


EMPTY_CONTEXT = EntryContext()


@dataclass(frozen=True, slots=True)
class LuaFault:
    """Why an entry failed; `code` is `lua-error`, `lua-syntax`, `timeout`, `memory`, `not-found` or `invalid`."""

    code: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an entry gave."""

    result: str = "null"
    """JSON text."""
    fault: LuaFault | None = None


class OutputSink(Protocol):
    """Where a world's side effects go, at once and in order, on the event loop; each returns quickly."""

    def frame(self, connection: int, text: str) -> None:
        """Take what changed for one page, ready to send; an entry gives each page one at most, after a fault too."""
        ...

    def event(self, text: str) -> None:
        """Take one pushed event, as JSON text."""
        ...

    def timer(self, handle: int, seconds: float) -> None:
        """Ask for `Op.TIMER` after `seconds`; an interval asks anew each time it has run."""
        ...

    def cancel(self, handle: int) -> None:
        """Forget a timer; the handle may be unknown."""
        ...

    def note(self, kind: str, text: str) -> None:
        """Take a remark: `displayed` NAME, `load_error`, `refused` JSON, `loaded` FILE, `themes`, `subscribed` NAME."""
        ...

    def ended(self, reason: str) -> None:
        """Learn that the world died by itself; every further entry raises `SessionGoneError`."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """Everything a world needs to start; plain values, so that they can cross to another process."""

    base_dir: str
    project: str
    session_id: str = ""
    bundle_lua: str = ""
    """Directory of Lua modules that come with the program; searched last."""
    max_seconds: float = 5.0
    max_memory_mb: int = 256
    verbosity: int = 0
    log: str = ""
    """Directory of lua.log and lua-err.log; empty = `{base_dir}/log`."""
    status: str = "{}"
    permissions: Mapping[str, object] = field(default_factory=dict)
    """The fields of `[lua.permissions]`."""
    protected: tuple[str, ...] = ()
    """Files and directories that app code neither reads nor writes, whatever the permissions say."""

    def settings(self) -> dict[str, object]:
        """Flatten it into what can be written as JSON."""
        log = self.log or f"{self.base_dir}/log"
        return {**asdict(self), "permissions": dict(self.permissions), "log": log}


class Worker(Protocol):
    """One running Lua world. Entries are made one at a time; the session's executor sees to that."""

    def call(self, op: Op, *args: Flat, facts: EntryContext = EMPTY_CONTEXT) -> Awaitable[Reply]:
        """Begin one thing at once; what changed has been put out when it is answered, even if nobody waits any more.

        Raises:
            SessionGoneError: the world has ended.
        """
        ...

    def ask(self, op: Op, *args: Flat, facts: EntryContext = EMPTY_CONTEXT) -> Future[Reply] | None:
        """Enter behind what is still being done; None, and nothing is done, where that would lose the order.

        Raises:
            SessionGoneError: the world has ended.
        """
        ...

    async def close(self) -> None:
        """End the world; safe to call twice."""
        ...


class WorkerHost(Protocol):
    """Starts worlds."""

    async def launch(self, launch: WorkerConfig, outputs: OutputSink) -> Worker:
        """Start a world and run the project's start-up files.

        Raises:
            LuaError: main.lua or mcp.lua failed.
        """
        ...


def stopped(pid: int) -> bool:
    """Say whether a process was stopped from outside (SIGSTOP, a debugger), where the system tells."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in {b"T", b"t"}
    except (OSError, IndexError):
        return False


class ProcessListener(Protocol):
    """Who hears of a process, on the event loop."""

    def received(self, data: bytes) -> None:
        """Take what the process wrote, in pieces of any size."""
        ...

    def exited(self, status: int | None) -> None:
        """Learn, once and last, that it is gone: exit status, negative signal number, or None when nobody knows."""
        ...


class Process(Protocol):
    """One process with a pipe both ways."""

    pid: int

    def write(self, data: bytes) -> None:
        """Send at once, or as soon as there is room."""
        ...

    def kill(self) -> None:
        """End it whatever it is doing; safe to call twice."""
        ...


_KINDS = frozenset({str, int, float, bool, type(None)})

_ERRORS: dict[str, type[LuaError]] = {
    "lua-syntax": LuaSyntaxError,
    "timeout": LuaTimeoutError,
    "memory": LuaMemoryError,
}


def decode_reply(body: bytes) -> list[Flat]:
    """Read what a child said.

    Raises:
        ValueError: it is not a list of flat values.
    """
    values = loads(body)
    if type(values) is not list or not values or not _KINDS.issuperset(map(type, values)):
        raise ValueError("not a message")
    return values


def parse_reply(flat: Sequence[Flat], outputs: OutputSink) -> Reply:
    """Read code, message, traceback, result, then connection and frame in turns, which go to `outputs`."""
    code, message, traceback, result, *frames = flat
    for at in range(0, len(frames), 2):
        outputs.frame(int(frames[at] or 0), str(frames[at + 1]))
    return Reply(str(result), LuaFault(str(code), str(message), str(traceback)) if code else None)


def dispatch_output(outputs: OutputSink, kind: str, text: str, number: float) -> None:
    """Hand one streamed output to the method that takes it."""
    match kind:
        case "event":
            outputs.event(text)
        case "timer":
            outputs.timer(int(text), number)
        case "cancel":
            outputs.cancel(int(text))
        case _:
            outputs.note(kind, text)


def error_for_fault(fault: LuaFault) -> LuaError:
    """Turn a fault into the error to raise."""
    kind = _ERRORS.get(fault.code, LuaError)
    return kind(fault.message, traceback=fault.traceback, fault=fault.code)


def start_error(fault: LuaFault) -> LuaError:
    """Say that the start-up files failed."""
    error = error_for_fault(fault)
    return type(error)(f"Lua start-up failed: {fault.message}", **error.details)
