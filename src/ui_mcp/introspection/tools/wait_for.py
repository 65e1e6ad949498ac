"""`ui_wait_for`: wait until a node appears or disappears."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.fields import Limit
from ui_mcp.introspection.arguments import SHORT_SELECTOR, Request, Selector
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.selectors import described
from ui_mcp.introspection.target import until
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result


@dataclass(frozen=True, slots=True)
class WaitForArgs(Request):
    """What to wait for."""

    selector: Annotated[Selector, "As in ui_query.", SHORT_SELECTOR]
    gone: bool = False
    timeout_ms: Annotated[int, Limit(ge=1, le=60_000)] = 5000
    target: str | None = None


@tool(
    "ui_wait_for",
    WaitForArgs,
    title="Wait for a UI",
    annotations=Annotations(read_only=True),
    refused=invalid_arguments,
)
async def wait_for(registry: TargetRegistry, args: WaitForArgs, call: Call) -> ToolResult:
    """Wait until a node that matches is there (or `gone`), and answer with it.

    When: something takes time after an action. Example: {"selector": {"text": "Saved"}}
    """
    return await as_tool_result(_wait(registry, args))


async def _wait(registry: TargetRegistry, args: WaitForArgs) -> ToolResult:
    target = await registry.target(args.target)
    found = await until(target, args.selector, args.timeout_ms / 1000, lambda nodes: bool(nodes) is not args.gone)
    return structured_result({"matches": [described(node) for node in found[:50]]})
