"""What a session needs from the server around it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from anyio.abc import TaskGroup

from ui_mcp.lua_runtime.interface import Outputs, World


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The same for all sessions of a server."""

    launch: Callable[[str, Outputs], Awaitable[World]]
    """Start a Lua world for the session with this secret id, with all viewdefs."""
    status: Callable[[], str]
    """JSON text of what `mcp:status()` returns."""
    announce: Callable[[str], None]
    """Say that the resource at a URI changed; bursts are thinned out."""
    tasks: TaskGroup
    """Owns what the sessions run in the background."""
    pages_changed: Callable[[], None] = lambda: None
    """Say that a page came or went."""
    timing: bool = False
    """Whether compute times are always measured."""
    note: Callable[[str, str], None] = lambda _kind, _text: None
    """Take a world's remark that concerns the server: `themes`, `subscribed`."""
