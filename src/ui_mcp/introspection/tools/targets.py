"""`ui_targets`: which UIs can be looked at."""

from ui_mcp.introspection.contract import answered, misread
from ui_mcp.toolkit.functions import NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result
from ui_mcp.ui.server import Host


@tool("ui_targets", NoArgs, title="List UIs", annotations=Annotations(read_only=True, idempotent=True), refused=misread)
async def targets(host: Host, args: NoArgs, call: Call) -> ToolResult:
    """List what ui_get_snapshot and the other looking tools take as `target`, with the reason where one cannot be used.

    A person adds JavaFX programs and foreign pages with the command `ui-mcp attach`.
    """
    return await answered(_list(host))


async def _list(host: Host) -> ToolResult:
    return structured_result({"targets": host.sight.listed()})
