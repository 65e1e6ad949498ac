"""`loop_yield_turn`: how a model says that it is done for now, whatever UI there is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ui_mcp.errors import UnknownToolError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult

YIELD = "loop_yield_turn"
LEGACY = ("ui.end_turn", "ui_end_turn", "ui__end_turn")
YIELD_SPELLINGS = ("loop.yield_turn", "yield_turn", "loop__yield_turn", *LEGACY)
DEPRECATED = "ui-mcp/deprecated"

Legacy = Literal["compat", "list", "off"]
"""What the older name does: callable, listed too, or unknown."""


class TurnControl:
    """Remembers whether the model has yielded in this turn."""

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
    """The loop's own tool, under its older names as the setting says."""

    def __init__(self, control: TurnControl, legacy: Legacy = "compat") -> None:
        self._functions = FunctionToolset(control, [yield_turn])
        self._legacy = legacy

    async def tools(self, call: Call) -> Sequence[Tool]:
        """List the tool, and its deprecated name where that is wanted."""
        listed = list(await self._functions.tools(call))
        return [*listed, replace(listed[0], name="ui_end_turn")] if self._legacy == "list" else listed

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Yield; a deprecated name says what replaces it."""
        if name in LEGACY and self._legacy == "off":
            raise UnknownToolError(name)
        result = await self._functions.call(name, arguments, call)
        return replace(result, meta={DEPRECATED: YIELD}) if name in LEGACY else result
