"""`ui_audit`: check an app's files for mistakes."""

from dataclasses import dataclass
from typing import Annotated

from anyio import to_thread

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.audit import audit as audit_app
from ui_mcp.ui.server import UiServer


@dataclass(frozen=True, slots=True)
class AuditArgs:
    """What to audit."""

    name: Annotated[str, "Name of the app: its directory in apps/."]


@tool("ui_audit", AuditArgs, title="Audit an app", annotations=Annotations(read_only=True, idempotent=True))
async def audit(host: UiServer, args: AuditArgs, call: Call) -> JsonObject:
    """Check the Lua code and viewdefs of an app for common mistakes, without running it.

    Finds methods nothing calls, methods a viewdef calls but no code defines, operators in paths, missing reload
    guards, mismatched tags and more. `violations` need fixing; `warnings` deserve a look. Works before ui_start.
    """
    return await to_thread.run_sync(audit_app, host.configured().workspace.apps, args.name)
