"""`loop_yield_turn`: how a model says that it is done for now, whatever UI there is."""

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call

YIELD = "loop_yield_turn"
YIELD_SPELLINGS = ("loop.yield_turn", "yield_turn", "ui.end_turn", "ui_end_turn", "ui__end_turn", "loop__yield_turn")


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


def control_toolset(control: TurnControl) -> FunctionToolset[TurnControl]:
    """Serve the loop's own tool."""
    return FunctionToolset(control, [yield_turn])
