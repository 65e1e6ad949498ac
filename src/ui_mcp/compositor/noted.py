"""Tools of our own, which nobody has to allow: their calls are in the audit log like all others."""

import time
from collections.abc import Sequence

from ui_mcp.compositor.canonical import require_json
from ui_mcp.errors import InvalidArgumentsError, UiMcpError, UnknownToolError
from ui_mcp.gateway.audit import OWN, Audit, Line, text_bytes
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset


class Noted:
    """A toolset that writes down what is called."""

    def __init__(self, tools: Toolset, source: str, audit: Audit) -> None:
        self._tools = tools
        self._source = source
        self._audit = audit

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools as they are."""
        return await self._tools.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Run one tool and note it under its listed name."""
        started = time.perf_counter()
        try:
            require_json(arguments)
        except InvalidArgumentsError:
            await self._note(name, {}, call, started, None)
            raise
        try:
            result = await self._tools.call(name, arguments, call)
        except UnknownToolError:
            raise
        except UiMcpError:
            await self._note(name, arguments, call, started, None)
            raise
        await self._note(name, arguments, call, started, result)
        return result

    async def _note(
        self, name: str, arguments: JsonObject, call: Call, started: float, result: ToolResult | None
    ) -> None:
        listed = [tool.name for tool in await self._tools.tools(call) if name in (tool.name, *tool.aliases)]
        line = Line(
            id=secret_id(),
            principal=call.principal,
            client=call.client_name,
            source=self._source,
            tool=listed[0] if listed else name,
            method=OWN,
            outcome="policy_allow",
            is_error=result is None or result.is_error,
            ms=int((time.perf_counter() - started) * 1000),
            bytes_out=text_bytes(result) if result else 0,
        )
        self._audit.write(line, arguments)
