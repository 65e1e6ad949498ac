"""Which tools a conversation may use, as its person chose."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import DeniedError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset


@dataclass(frozen=True, slots=True)
class Selection:
    """Sources that may be used (None = all) and tools that may not."""

    enabled_sources: frozenset[str] | None = None
    disabled_tools: frozenset[str] = frozenset()

    def allows(self, name: str) -> bool:
        """Say whether a tool may be used; tools without a source always may."""
        source, separator, _ = name.partition("__")
        allowed = not separator or self.enabled_sources is None or source in self.enabled_sources
        return allowed and name not in self.disabled_tools

    def as_json(self) -> JsonObject:
        """Write it down."""
        sources = sorted(self.enabled_sources) if self.enabled_sources is not None else None
        return {"enabled_sources": sources, "disabled_tools": sorted(self.disabled_tools)}


def selection_of(events: Iterable[StoredEvent]) -> Selection:
    """Return the newest choice."""
    chosen = Selection()
    for event in events:
        if event.type == "tools_selected":
            sources = event.data.get("enabled_sources")
            chosen = Selection(
                frozenset(sources) if sources is not None else None, frozenset(event.data.get("disabled_tools", ()))
            )
    return chosen


class Selected:
    """A toolset cut down to a selection."""

    def __init__(self, toolset: Toolset, selection: Callable[[], Selection]) -> None:
        self._toolset = toolset
        self._selection = selection

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return what may be used."""
        chosen = self._selection()
        return [tool for tool in await self._toolset.tools(call) if chosen.allows(tool.name)]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool that may be used."""
        if not self._selection().allows(name):
            raise DeniedError(f"{name} is switched off in this conversation", decision="deny_continue")
        return await self._toolset.call(name, arguments, call)
