"""`ui_tools`: all tools by group, and groups to add to the list."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.tool_groups import CORE, GROUPS


@dataclass(frozen=True, slots=True)
class ToolsArgs:
    """Which group."""

    group: Annotated[str | None, "Group to add."] = None


@tool("ui_tools", ToolsArgs, title="List and add tools", annotations=Annotations(destructive=False, idempotent=True))
async def tools(host: UiServer, args: ToolsArgs, call: Call) -> JsonObject:
    """List all tools by group, or add a group to your tool list.

    When: a tool you need is not listed; each can also be called by its name. Example: {"group": "look"}
    """
    if args.group is not None:
        if args.group not in GROUPS:
            raise InvalidArgumentsError(f"No group {args.group!r}; there are: {', '.join(GROUPS)}")
        host.tool_groups.add(args.group, call)
    added = host.tool_groups.added(call)
    groups: JsonObject = {
        name: {"about": group.about, "tools": sorted(group.tools), "added": name in added}
        for name, group in GROUPS.items()
    }
    return {"core": sorted(CORE - {"ui_sync"}), "groups": groups}
