"""`ui_start`: start serving the UI."""

from ui_mcp.toolkit.functions import NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.tools.display import SHOWN_INLINE


@tool("ui_start", NoArgs, title="Start the UI", annotations=Annotations(destructive=False), meta=SHOWN_INLINE)
async def start(host: UiServer, args: NoArgs, call: Call) -> str:
    """Start the UI server and return its address, e.g. http://127.0.0.1:39482.

    When: once, before ui_run, ui_display, ui_wait, unless ui_edit did with show. "Server already running" is as good.
    Example: {}
    """
    return (await host.start()).url
