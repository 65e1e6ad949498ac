"""A Toolset lists tools and calls one; everything an agent can use is one of these."""

from collections.abc import Sequence
from typing import Protocol

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult


class Toolset(Protocol):
    """Anything that lists tools and calls one."""

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools in a stable order."""
        ...

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Run the tool called `name`.

        Raises:
            UnknownToolError: there is no such tool here.
            UiMcpError: the tool failed in a way the agent can act on.
        """
        ...
