"""A toolset without some of its tools."""

from collections.abc import Callable, Sequence

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset, UnknownToolError


class Filtered:
    """Lists and calls only the tools that `keep` accepts."""

    def __init__(self, inner: Toolset, keep: Callable[[str], bool]) -> None:
        self._inner = inner
        self._keep = keep

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the accepted tools in the inner order."""
        return [tool for tool in await self._inner.tools(call) if self._keep(tool.name)]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call an accepted tool."""
        if not self._keep(name):
            raise UnknownToolError(name)
        return await self._inner.call(name, arguments, call)
