"""Where the listeners of a server are."""

from dataclasses import dataclass


@dataclass(slots=True)
class Doors:
    """Ports to listen on; 0 takes a free one."""

    ui: int = 0
    mcp: int = 0
    lasting: bool = False
    """Whether a free port is the one of the last time, if it is still free."""
    person: int = 0
    """The port that the person's listener takes if it can; otherwise it takes the last one, or a free one."""
    mcp_is_open: bool = False
    """`serve` keeps its MCP listener over restarts of the UI; then it is only named here."""
