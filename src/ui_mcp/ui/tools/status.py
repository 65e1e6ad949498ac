"""`ui_status`: report the server's state."""

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import NoArgs, tool
from ui_mcp.toolkit.tool import ALWAYS_LOADED, Annotations, Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running


@tool(
    "ui_status", NoArgs, title="UI status", annotations=Annotations(read_only=True, idempotent=True), meta=ALWAYS_LOADED
)
async def status(host: UiServer, args: NoArgs, call: Call) -> JsonObject:
    """Tell the state: "configured" (call ui_start), "running" or "unconfigured" (call ui_configure), address and pages.

    When: first, and when something is unclear. `person_url` is where the person writes and decides; `outdated`: call
    ui_install. Example: {}
    """
    joined = host.clients()
    return {**host.status(), **({"clients": joined} if joined else {}), **_unsaved(host)}


def _unsaved(host: UiServer) -> JsonObject:
    found = host.state.sessions.unsaved() if isinstance(host.state, Running) else {}
    return {"unsaved": found} if found else {}
