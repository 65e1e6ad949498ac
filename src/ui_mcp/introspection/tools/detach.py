"""`ui_detach`: detach a program or a page."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result


@dataclass(frozen=True, slots=True)
class DetachArgs(Request):
    """What to let go of."""

    target: Annotated[str, "Its id in ui_targets."]


@tool("ui_detach", DetachArgs, title="Detach a UI", annotations=Annotations(idempotent=True), refused=invalid_arguments)
async def detach(registry: TargetRegistry, args: DetachArgs, call: Call) -> ToolResult:
    """Forget an attached program or page; it keeps running.

    Example: {"target": "javafx-4711"}
    """
    return await as_tool_result(_detach(registry, args))


async def _detach(registry: TargetRegistry, args: DetachArgs) -> ToolResult:
    registry.require_attach_allowed()
    if not await registry.forget(args.target):
        raise UiArgumentError(f"No target {args.target!r} is attached")
    return structured_result({"detached": args.target})
