"""`ui_query`: find nodes by selector."""

from dataclasses import dataclass, field
from typing import Annotated

from ui_mcp.errors import UiArgumentError
from ui_mcp.fields import Limit, Schema
from ui_mcp.introspection.arguments import LONG_SELECTOR, WHOLE, Request, Scope, Selector
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.selectors import described
from ui_mcp.introspection.target import ask_for
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result

# As they are listed: every conversation pays for a default and for limits that an error would name.
STAGE: JsonObject = {"type": "string", "enum": ["focused", "index", "all"]}
STAGES = Schema({"type": "object", "properties": {"stage": STAGE, "stageIndex": {"type": "integer"}}})


@dataclass(frozen=True, slots=True)
class QueryArgs(Request):
    """What to find."""

    selector: Annotated[Selector, LONG_SELECTOR]
    scope: Annotated[Scope, STAGES] = field(default_factory=Scope)
    limit: Annotated[int, Limit(ge=1, le=1000), WHOLE] = 50
    target: str | None = None


@tool(
    "ui_query",
    QueryArgs,
    title="Find nodes",
    annotations=Annotations(read_only=True),
    aliases=("ui.query",),
    refused=invalid_arguments,
)
async def query(registry: TargetRegistry, args: QueryArgs, call: Call) -> ToolResult:
    """Find nodes by css, visible text or properties, all that are given; answers refs and bounds.

    When: you know what to look for; no match is an empty list. Example: {"selector": {"text": "Save"}}
    """
    return await as_tool_result(_find(registry, args))


async def _find(registry: TargetRegistry, args: QueryArgs) -> ToolResult:
    scope = args.scope
    if scope.stage == "index" and scope.stage_index is None:
        raise UiArgumentError('scope.stage "index" needs scope.stageIndex')
    target = await registry.target(args.target)
    stage = scope.stage_index if scope.stage == "index" else None
    found = await target.find(args.selector, ask_for(args.selector, stage, everywhere=scope.stage == "all"))
    cut = {"truncated": True, "total": len(found)} if len(found) > args.limit else {}
    return structured_result({"matches": [described(node) for node in found[: args.limit]], **cut})
