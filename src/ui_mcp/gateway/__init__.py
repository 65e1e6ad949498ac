"""APIs and MCP servers behind one policy; `Gateway` embeds them in a Python program."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ui_mcp.gateway.embedded import Gateway as Gateway


def __getattr__(name: str) -> object:
    """Import `Gateway` on first use, so that importing a module of this package does not load the whole gateway."""
    if name == "Gateway":
        from ui_mcp.gateway.embedded import Gateway

        return Gateway
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
