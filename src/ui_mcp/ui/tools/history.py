"""`ui_history`: who did what in a session."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from ui_mcp.fields import Limit, Named
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer


@dataclass(frozen=True, slots=True)
class HistoryArgs:
    """Which part of the history."""

    limit: Annotated[int, Limit(ge=1, le=200)] = 20
    before: int | None = None
    session_id: Annotated[str, Named("sessionId")] = "1"


@tool("ui_history", HistoryArgs, title="History of a session", annotations=Annotations(read_only=True))
async def history(host: UiServer, args: HistoryArgs, call: Call) -> JsonObject:
    """List who changed the state (person, agent, timer, reload), newest first.

    When: before ui_undo. Example: {}
    """
    session = host.running().sessions.get(args.session_id)
    found = await session.history.steps(before=args.before, limit=args.limit)
    return {**found, "steps": [_shown(step) for step in found["steps"]]}


def _shown(step: JsonObject) -> JsonObject:
    at = datetime.fromtimestamp(step["at"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    rest = {key: value for key, value in step.items() if key not in {"at", "author"} and value != ""}
    return {**rest, "at": at}
