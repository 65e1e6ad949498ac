"""`ui_undo`: take steps of a session back, or go to a past moment."""

from dataclasses import dataclass
from typing import Annotated, Literal

from ui_mcp.errors import InvalidArgumentsError, RefusedError
from ui_mcp.fields import Named
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.state.acts import AGENT

Action = Literal["undo", "redo", "return", "fork", "discard"]


@dataclass(frozen=True, slots=True)
class UndoArgs:
    """What to take back."""

    action: Annotated[Action, "return: to the state after `step`. fork: that in a new session; discard ends it."] = (
        "undo"
    )
    step: Annotated[int | None, "From ui_history; without it your last one."] = None
    session_id: Annotated[str, Named("sessionId")] = "1"


@tool("ui_undo", UndoArgs, title="Undo", annotations=Annotations(destructive=True))
async def undo(host: UiServer, args: UndoArgs, call: Call) -> JsonObject:
    """Undo or redo a step of the state; what was changed since stays, under `kept`.

    When: something went wrong, or to try things in a fork. Example: {"step": 12}
    """
    running = host.running()
    session = running.sessions.get(args.session_id)
    match args.action:
        case "undo":
            return (await session.history.undo(AGENT, step=args.step)).as_json()
        case "redo":
            return (await session.history.redo(AGENT)).as_json()
        case "return":
            if args.step is None:
                raise InvalidArgumentsError("return needs a step\nui_history lists them.")
            return (await session.history.return_to(args.step, AGENT)).as_json()
        case "fork":
            made = await running.sessions.fork(session, args.step)
            return {"sessionId": made.vended, "url": f"{running.url}/{made.secret}/"}
        case "discard":
            if session.vended == "1":
                raise RefusedError("Session 1 is not a fork: it stays")
            await running.sessions.destroy(session)
            return {"discarded": session.vended}
