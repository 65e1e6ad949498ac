"""`ui_element_at`: the node at a point of the screen."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.selectors import described
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result


@dataclass(frozen=True, slots=True)
class ElementAtArgs(Request):
    """Which point."""

    x: Annotated[float, "Screen coordinate (viewport for pages), the space of localToScreen."]
    y: float
    target: str | None = None


@tool(
    "ui_element_at",
    ElementAtArgs,
    title="Find by point",
    annotations=Annotations(read_only=True),
    refused=invalid_arguments,
)
async def element_at(registry: TargetRegistry, args: ElementAtArgs, call: Call) -> ToolResult:
    """Name the topmost node at a point and the nodes around it.

    When: you saw something in a picture. Example: {"x": 120, "y": 80}
    """
    return await as_tool_result(_find(registry, args))


async def _find(registry: TargetRegistry, args: ElementAtArgs) -> ToolResult:
    target = await registry.target(args.target)
    top, *ancestors = await target.at(args.x, args.y)
    refs = [{"path": node.path, "uid": node.uid} for node in ancestors]
    return structured_result({**described(top), "ancestors": refs})
