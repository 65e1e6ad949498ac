"""GatewayToolset: what clients list and call, either all tools or a compact set that finds them."""

from collections.abc import Sequence

from ui_mcp.gateway.catalog import unknown
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.tools import ADMIN, ALL, COMPACT, FULL, GATE, call_tool
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call, Tool, ToolResult

_MAX_FULL_TOOLS = 128
_MAX_FULL_SIZE = 100_000
_MAX_INSTRUCTIONS = 2_000


class GatewayToolset:
    """The gateway as a toolset; in compact mode all tools stay callable by their own names."""

    def __init__(self, gateway: GatewayService, *, mode: str | None = None) -> None:
        self._gateway = gateway
        self._mode = mode or gateway.settings.catalogue.mode
        self._builtins = FunctionToolset(gateway, ALL)
        self._audited_builtins = gateway.audited(self._builtins, "nlui")
        self._names = {entry.tool.name for entry in ALL}

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools of the mode, after the sources have had their time to start."""
        await self._gateway.sources.ready()
        gate = GATE if self._gateway.policy(call).mode == "guard" or self._gateway.settings.policy.rules else ()
        admin = ADMIN if call.principal in self._gateway.admins else ()
        if self._is_compact():
            return [entry.tool for entry in (*COMPACT, *gate, *admin)]
        extra = FULL if self._gateway.settings.catalogue.extra_tools else ()
        entries = self._gateway.catalog.entries()
        return [*(entry.tool for entry in entries), *(entry.tool for entry in (*extra, *gate, *admin))]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call one of the gateway's own tools, or a tool of any source under policy."""
        if name == call_tool.tool.name:  # the inner call is recorded
            return await self._builtins.call(name, arguments, call)
        if name in self._names:
            return await self._audited_builtins.call(name, arguments, call)
        catalog = self._gateway.catalog
        if not catalog.has(name):
            await self._gateway.sources.ready()
            await self._gateway.sources.started(name)
            if not catalog.has(name):
                raise unknown(name, [*(entry.name for entry in catalog.entries()), *self._names])
        return await self._gateway.enforcer.call(name, arguments, call)

    def _is_compact(self) -> bool:
        if self._mode != "auto":
            return self._mode == "compact"
        entries = self._gateway.catalog.entries()
        if len(entries) > _MAX_FULL_TOOLS:
            return True
        size = sum(len(dumps(entry.tool.input_schema)) + len(entry.tool.description) for entry in entries)
        return size > _MAX_FULL_SIZE


def instructions(gateway: GatewayService) -> str:
    """Return the instructions for models, with those of the sources in mounting order, up to 2,000 characters."""
    lines = [
        "A gateway to other APIs and MCP servers; tools are named SOURCE__TOOL.",
        (
            "API tools also take: _fields (paths to keep, e.g. items[].id), _max_rows, "
            "_pages (follow n pages of what only reads), _dry_run (show the request, send nothing)."
        ),
        (
            "Looking for a tool: nlui__search, then nlui__describe, then nlui__call (or the tool's own name). "
            "Long answers are cut by row; nlui__more reads on with their handle."
        ),
    ]
    for source in gateway.catalog.sources():
        hint = source.instructions()
        if hint:
            lines.append(hint[:600])
    text = "\n".join(lines)
    return text if len(text) <= _MAX_INSTRUCTIONS else text[: _MAX_INSTRUCTIONS - 1] + "…"
