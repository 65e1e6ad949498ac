"""`ui_get_node`: all properties of one node."""

from dataclasses import dataclass, field
from typing import Annotated

from ui_mcp.fields import Schema
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.arguments import AnyRef, Include, Request
from ui_mcp.introspection.contract import ALL, CaptureRequest, as_tool_result, invalid_arguments
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result

FEW = Schema({"type": "object", "properties": {"properties": {"type": "boolean"}, "internals": {"type": "boolean"}}})
"""Two sections of `Include`, since every conversation pays for the list; all are taken."""


@dataclass(frozen=True, slots=True)
class NodeArgs(Request):
    """Which node."""

    ref: Annotated[AnyRef, "uid from an earlier answer."]
    include_children: bool = False
    include: Annotated[Include, "More as in ui_get_snapshot.", FEW] = field(default_factory=Include)
    target: str | None = None


@tool(
    "ui_get_node",
    NodeArgs,
    title="Describe a node",
    annotations=Annotations(read_only=True),
    aliases=("ui.getNode",),
    refused=invalid_arguments,
)
async def get_node(registry: TargetRegistry, args: NodeArgs, call: Call) -> ToolResult:
    """Tell everything about one node.

    When: the outline does not say enough. Example: {"ref": "a12"}
    """
    return await as_tool_result(_describe(registry, args))


async def _describe(registry: TargetRegistry, args: NodeArgs) -> ToolResult:
    target = await registry.target(args.target)
    sections = args.include.sections(ALL)
    depth = 1 if args.include_children else 0
    ref = args.ref.ref()
    internals = bool(args.include.internals)
    node = await target.node(
        ref, CaptureRequest(stage="all", depth=depth, sections=sections, root=ref, internals=internals)
    )
    return structured_result(snapshot_json.tree(node, sections))
