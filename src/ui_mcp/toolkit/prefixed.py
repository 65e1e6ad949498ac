"""A toolset under a source name: `read_file` of `filesystem` is listed as `filesystem__read_file`."""

from collections.abc import Sequence
from dataclasses import replace

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.names import Unnamed, closest, tool_names
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset, UnknownToolError


class Prefixed:
    """Lists another toolset's tools under its source name and routes by the table made while naming."""

    def __init__(self, source: str, inner: Toolset) -> None:
        self.source = source
        self._inner = inner
        self._table: dict[str, str] = {}

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the inner tools under their listed names."""
        inner = await self._inner.tools(call)
        names = tool_names(self.source, [Unnamed(tool.name, tool.name) for tool in inner])
        self._table = {name: tool.name for name, tool in zip(names, inner, strict=True)}
        return [replace(tool, name=name, aliases=()) for name, tool in zip(names, inner, strict=True)]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call the inner tool that was listed as `name`."""
        if name not in self._table:
            await self.tools(call)
        inner = self._table.get(name)
        if inner is None:
            raise UnknownToolError(name)
        return await self._inner.call(inner, arguments, call)

    def suggestions(self, name: str) -> list[str]:
        """Name the listed tools most like `name`."""
        return closest(name, self._table)
