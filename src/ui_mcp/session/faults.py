"""Turns the fault of an entry into an error of ours."""

from ui_mcp.errors import (
    LuaError,
    LuaMemoryError,
    LuaSyntaxError,
    LuaTimeoutError,
    NotFoundError,
    UiMcpError,
    WireError,
)
from ui_mcp.lua_runtime.interface import Reply

_KINDS: dict[str, type[UiMcpError]] = {
    kind.code: kind for kind in (LuaError, LuaSyntaxError, LuaTimeoutError, LuaMemoryError, NotFoundError, WireError)
}


def checked(reply: Reply) -> Reply:
    """Return `reply` if the entry succeeded.

    Raises:
        UiMcpError: it did not; Lua's traceback is in the details.
    """
    if reply.fault is None:
        return reply
    kind = _KINDS.get(reply.fault.code, LuaError)
    raise kind(reply.fault.message, traceback=reply.fault.traceback)
