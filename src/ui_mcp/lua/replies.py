"""Flat answers of a core turned into what the seam promises."""

from collections.abc import Sequence

from ui_mcp.errors import LuaError, LuaMemoryError, LuaSyntaxError, LuaTimeoutError
from ui_mcp.jsontypes import loads
from ui_mcp.lua_runtime.interface import Fault, Flat, Outputs, Reply

_KINDS = frozenset({str, int, float, bool, type(None)})
_ERRORS: dict[str, type[LuaError]] = {
    "lua-syntax": LuaSyntaxError,
    "timeout": LuaTimeoutError,
    "memory": LuaMemoryError,
}


def heard(body: bytes) -> list[Flat]:
    """Read what a child said.

    Raises:
        ValueError: it is not a list of flat values.
    """
    values = loads(body)
    if type(values) is not list or not values or not _KINDS.issuperset(map(type, values)):
        raise ValueError("not a message")
    return values


def reply_of(flat: Sequence[Flat], outputs: Outputs) -> Reply:
    """Read code, message, traceback, result, then connection and frame in turns, which go to `outputs`."""
    code, message, traceback, result, *frames = flat
    for at in range(0, len(frames), 2):
        outputs.frame(int(frames[at] or 0), str(frames[at + 1]))
    return Reply(str(result), Fault(str(code), str(message), str(traceback)) if code else None)


def deliver(outputs: Outputs, kind: str, text: str, number: float) -> None:
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


def error_of(fault: Fault) -> LuaError:
    """Turn a fault into the error to raise."""
    kind = _ERRORS.get(fault.code, LuaError)
    return kind(fault.message, traceback=fault.traceback, fault=fault.code)


def start_error(fault: Fault) -> LuaError:
    """Say that the start-up files failed."""
    error = error_of(fault)
    return type(error)(f"Lua start-up failed: {fault.message}", **error.details)
