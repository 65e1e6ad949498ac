"""Toolset protocol and combined toolsets."""

from collections.abc import Sequence
from typing import Protocol

from ui_mcp.errors import UnknownToolError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult


class Toolset(Protocol):
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


class Combined:
    """Several toolsets as one; the first that knows a name runs it."""

    def __init__(self, parts: Sequence[Toolset]) -> None:
        self._parts = parts

    async def tools(self, call: Call) -> Sequence[Tool]:
        return [tool for part in self._parts for tool in await part.tools(call)]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        for part in self._parts:
            try:
                return await part.call(name, arguments, call)
            except UnknownToolError:
                continue
        raise UnknownToolError(name)
