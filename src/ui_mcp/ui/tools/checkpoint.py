"""`ui_checkpoint`: keep and restore versions of an app's files."""

from dataclasses import dataclass
from typing import Annotated, Literal

from anyio import to_thread

from ui_mcp.fields import Limit
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.checkpoints import Checkpoints
from ui_mcp.ui.server import UiServer
from ui_mcp.workspace import Workspace

Action = Literal["save", "list", "diff", "rollback", "baseline", "clear", "count"]


@dataclass(frozen=True, slots=True)
class CheckpointArgs:
    """What to do, and with which app."""

    action: Annotated[Action, "baseline and clear forget all checkpoints and start anew."]
    app: str
    message: Annotated[str, "For save."] = ""
    number: Annotated[int | None, "For diff and rollback; 1 is the newest.", Limit(ge=1)] = None


@tool("ui_checkpoint", CheckpointArgs, title="Checkpoint an app", annotations=Annotations(destructive=True))
async def checkpoint(host: UiServer, args: CheckpointArgs, call: Call) -> str:
    """Save a named version of an app's files; list, diff or roll back to one.

    When: before large changes. rollback without a number undoes the last one.
    Example: {"action": "save", "app": "todo", "message": "before filters"}
    """
    return await to_thread.run_sync(perform, host.configured().workspace, args)


def perform(workspace: Workspace, args: CheckpointArgs) -> str:
    """Run one action and return what to print."""
    kept = Checkpoints(workspace, args.app)
    match args.action:
        case "save":
            return kept.save(args.message)
        case "list":
            return kept.listing()
        case "diff":
            return kept.diff(args.number or 1)
        case "rollback":
            return kept.roll_back(args.number)
        case "baseline" | "clear":
            return kept.baseline()
        case "count":
            return str(kept.count())
