"""`ui_checkpoint`: keep and restore versions of an app's files together with its state."""

from dataclasses import dataclass
from typing import Annotated, Literal

from anyio import to_thread

from ui_mcp.errors import UiMcpError
from ui_mcp.fields import Limit
from ui_mcp.jsontypes import dumps
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.audit import global_name
from ui_mcp.ui.checkpoints import Checkpoints
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.state.acts import AGENT
from ui_mcp.ui.state.part import part_of
from ui_mcp.ui.states import Running
from ui_mcp.workspace import Workspace

Action = Literal["save", "list", "diff", "rollback", "baseline", "clear", "count"]


@dataclass(frozen=True, slots=True)
class CheckpointArgs:
    """What to do, and with which app."""

    action: Annotated[Action, "baseline, clear: forget all."]
    app: str
    message: Annotated[str, "For save."] = ""
    number: Annotated[int | None, "1 is the newest.", Limit(ge=1)] = None


@tool("ui_checkpoint", CheckpointArgs, title="Checkpoint an app", annotations=Annotations(destructive=True))
async def checkpoint(host: UiServer, args: CheckpointArgs, call: Call) -> str:
    """Save a named version of an app's files and state; list, diff or roll back to one.

    When: before large changes. rollback without a number undoes the last one.
    Example: {"action": "save", "app": "todo", "message": "draft"}
    """
    configured = host.configured()
    session = configured.sessions.get("1") if isinstance(configured, Running) else None
    if session is None or args.action not in {"save", "rollback"}:
        return await to_thread.run_sync(perform, configured.workspace, args)
    state = await state_of(session, global_name(args.app))
    if args.action == "save":
        return await to_thread.run_sync(perform, configured.workspace, args, state)
    return await _roll_back(host.running(), session, args, state)


async def _roll_back(running: Running, session: Session, args: CheckpointArgs, state: bytes) -> str:
    """Restore files and load them, then the state that belongs to them."""
    kept = await to_thread.run_sync(Checkpoints, running.workspace, args.app)
    async with running.sessions.writing() as load:
        said, wanted = await to_thread.run_sync(kept.roll_back, args.number, state)
        folder = running.workspace.apps / args.app
        files = await to_thread.run_sync(lambda: [file for file in folder.rglob("*") if file.is_file()])
        running.sessions.report_failed(await load(files))
    if wanted:
        await session.history.replace_part(wanted, global_name(args.app), AGENT, f"Roll back {args.app}")
        return f"{said}, with its state"
    return said


async def state_of(session: Session, name: str) -> bytes:
    """Return the state of the app with this global; nothing if it is not loaded or not saved."""
    try:
        part = part_of(await session.history.state_at(), name)
    except UiMcpError:
        return b""
    return dumps(list(part.records())).encode() if part is not None else b""


def perform(workspace: Workspace, args: CheckpointArgs, state: bytes = b"") -> str:
    """Run one action on the files, and with `save` on the app's state; return what to print."""
    kept = Checkpoints(workspace, args.app)
    match args.action:
        case "save":
            return kept.save(args.message, state)
        case "list":
            return kept.listing()
        case "diff":
            return kept.diff(args.number or 1)
        case "rollback":
            return kept.roll_back(args.number)[0]
        case "baseline" | "clear":
            return kept.baseline()
        case "count":
            return str(kept.count())
