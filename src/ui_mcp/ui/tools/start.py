"""`ui_start`: start serving the UI."""

from ui_mcp.toolkit.functions import NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.tools.display import SHOWN_INLINE


@tool("ui_start", NoArgs, title="Start the UI", annotations=Annotations(destructive=False), meta=SHOWN_INLINE)
async def start(host: UiServer, args: NoArgs, call: Call) -> str:
    """Start the UI server and return its address, e.g. http://127.0.0.1:39482.

    Call it once before ui_run, ui_display, ui_upload_viewdef, ui_wait and ui_open_browser. The address is also what the
    person can open by hand. Fails with "Server already running" and the address when it runs, which is as good.
    """
    return (await host.start()).url
