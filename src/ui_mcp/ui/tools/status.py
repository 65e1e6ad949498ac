"""`ui_status`: report the server's state."""

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer


@tool("ui_status", NoArgs, title="UI status", annotations=Annotations(read_only=True, idempotent=True))
async def status(host: UiServer, args: NoArgs, call: Call) -> JsonObject:
    """Tell the server's state: "configured" (call ui_start), "running", or "unconfigured" (call ui_configure).

    Also the version and the base directory; while running the address, the number of connected browser pages, the
    port for /wait, /state and /variables, and person_url, the page on which the person writes and decides.
    `clients` are the agents that share this server; `other` is a ui-mcp of an older version that serves the directory.
    `outdated` says that the project's files are older than the program: call ui_install.
    """
    joined = host.clients()
    return {**host.status(), **({"clients": joined} if joined else {})}
