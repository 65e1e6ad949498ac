"""`ui_targets`: the UIs that other tools can use."""

from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result


class TargetsArgs(Request):
    """Nothing: unknown fields are ignored, as by the other tools for looking."""


@tool(
    "ui_targets",
    TargetsArgs,
    title="List UIs",
    annotations=Annotations(read_only=True, idempotent=True),
    refused=invalid_arguments,
)
async def targets(registry: TargetRegistry, args: TargetsArgs, call: Call) -> ToolResult:
    """List what can be given as `target`, with the reason where one cannot be used.

    When: a look fails, or a program was attached. Example: {}
    """
    return await as_tool_result(_list(registry))


async def _list(registry: TargetRegistry) -> ToolResult:
    return structured_result({"targets": registry.listed()})
