"""The tool `loop_yield_turn`, and the person's selection of tools."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import DeniedError, UnknownToolError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset


@dataclass(frozen=True, slots=True)
class Selection:
    """Allowed sources (None = all) and disabled tools."""

    enabled_sources: frozenset[str] | None = None
    disabled_tools: frozenset[str] = frozenset()

    def allows(self, name: str) -> bool:
        """Return whether a tool may be used; `enabled_sources` does not apply to tools without a source."""
        source, separator, _ = name.partition("__")
        allowed = not separator or self.enabled_sources is None or source in self.enabled_sources
        return allowed and name not in self.disabled_tools

    def as_json(self) -> JsonObject:
        sources = sorted(self.enabled_sources) if self.enabled_sources is not None else None
        return {"enabled_sources": sources, "disabled_tools": sorted(self.disabled_tools)}


def selection_of(events: Iterable[StoredEvent]) -> Selection:
    """Return the newest selection among the events."""
    chosen = Selection()
    for event in events:
        if event.type == "tools_selected":
            sources = event.data.get("enabled_sources")
            chosen = Selection(
                frozenset(sources) if sources is not None else None, frozenset(event.data.get("disabled_tools", ()))
            )
    return chosen


class Selected:
    """A toolset restricted to a selection, which may change between calls."""

    def __init__(self, toolset: Toolset, selection: Callable[[], Selection]) -> None:
        self._toolset = toolset
        self._selection = selection

    async def tools(self, call: Call) -> Sequence[Tool]:
        chosen = self._selection()
        return [tool for tool in await self._toolset.tools(call) if chosen.allows(tool.name)]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool.

        Raises:
            DeniedError: the selection does not allow it.
        """
        if not self._selection().allows(name):
            raise DeniedError(f"{name} is switched off in this conversation", decision="deny_continue")
        return await self._toolset.call(name, arguments, call)


YIELD = "loop_yield_turn"
LEGACY = ("ui.end_turn", "ui_end_turn", "ui__end_turn")
YIELD_SPELLINGS = ("loop.yield_turn", "yield_turn", "loop__yield_turn", *LEGACY)
DEPRECATED = "ui-mcp/deprecated"

Legacy = Literal["compat", "list", "off"]
"""How the deprecated names work: callable, also listed, or unknown."""


class TurnControl:
    """Whether the model has yielded in this turn."""

    def __init__(self) -> None:
        self.yielded = False


@tool(
    YIELD,
    NoArgs,
    title="End the turn",
    annotations=Annotations(read_only=True, idempotent=True),
    aliases=YIELD_SPELLINGS,
)
async def yield_turn(control: TurnControl, args: NoArgs, call: Call) -> JsonObject:
    """End your turn: nothing more to do until the person writes again. Other calls of the same answer finish first."""
    control.yielded = True
    return {"ok": True}


class ControlTools:
    """The loop's own tool, with its deprecated names as `legacy` says."""

    def __init__(self, control: TurnControl, legacy: Legacy = "compat") -> None:
        self._functions = FunctionToolset(control, [yield_turn])
        self._legacy = legacy

    async def tools(self, call: Call) -> Sequence[Tool]:
        listed = list(await self._functions.tools(call))
        return [*listed, replace(listed[0], name="ui_end_turn")] if self._legacy == "list" else listed

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call the tool; the result of a deprecated name has the new name in its metadata.

        Raises:
            UnknownToolError: the name is deprecated and switched off.
        """
        if name in LEGACY and self._legacy == "off":
            raise UnknownToolError(name)
        result = await self._functions.call(name, arguments, call)
        return replace(result, meta={DEPRECATED: YIELD}) if name in LEGACY else result
