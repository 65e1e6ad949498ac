"""Flat answers of a core turned into what the seam promises."""

from collections.abc import Sequence

from ui_mcp.errors import LuaError, LuaMemoryError, LuaSyntaxError, LuaTimeoutError
from ui_mcp.lua.host import Fault, Flat, Reply

_ERRORS: dict[str, type[LuaError]] = {
    "lua-syntax": LuaSyntaxError,
    "timeout": LuaTimeoutError,
    "memory": LuaMemoryError,
}


def reply_of(flat: Sequence[Flat]) -> Reply:
    """Read code, message, traceback, result, then connection and frame in turns."""
    code, message, traceback, result, *frames = flat
    fault = Fault(str(code), str(message), str(traceback)) if code else None
    pairs = zip(frames[::2], frames[1::2], strict=True)
    return Reply(str(result), fault, tuple((int(str(conn)), str(frame)) for conn, frame in pairs))


def error_of(fault: Fault) -> LuaError:
    """Turn a fault into the error to raise."""
    kind = _ERRORS.get(fault.code, LuaError)
    return kind(fault.message, traceback=fault.traceback, fault=fault.code)


def start_error(fault: Fault) -> LuaError:
    """Say that the start-up files failed."""
    error = error_of(fault)
    return type(error)(f"Lua start-up failed: {fault.message}", **error.details)
