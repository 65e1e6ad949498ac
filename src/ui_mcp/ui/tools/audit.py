"""`ui_audit`: check an app's files for mistakes."""

from dataclasses import dataclass

from anyio import to_thread

from ui_mcp.errors import LifecycleError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.audit import audit as audit_app
from ui_mcp.ui.server import UiServer


@dataclass(frozen=True, slots=True)
class AuditArgs:
    """What to audit."""

    name: str


@tool("ui_audit", AuditArgs, title="Audit an app", annotations=Annotations(read_only=True, idempotent=True))
async def audit(host: UiServer, args: AuditArgs, call: Call) -> JsonObject:
    """Check an app's Lua and viewdefs for mistakes without running it.

    When: before you finish, or for an app you did not write. Fix `violations`, look at `warnings`.
    Example: {"name": "todo"}
    """
    found = await to_thread.run_sync(audit_app, host.configured().workspace.apps, args.name)
    return {**found, "running": _running_problems(host, args.name)}


def _running_problems(host: UiServer, app: str) -> list[JsonObject]:
    try:
        sessions = host.running().sessions
    except LifecycleError:
        return []
    return sessions.problems_of(app)
