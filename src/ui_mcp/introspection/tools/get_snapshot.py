"""`ui_get_snapshot`: the content of a UI, as outline or JSON."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ui_mcp.config import Config
from ui_mcp.errors import UiArgumentError
from ui_mcp.fields import Limit
from ui_mcp.introspection.arguments import SECTIONS, AnyRef, Include, Request
from ui_mcp.introspection.contract import Defaults, Limits, Mode, StageChoice, as_tool_result, invalid_arguments
from ui_mcp.introspection.snapshot import SnapshotRequest, as_both, as_text
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, Text, ToolResult, text_result


@dataclass(frozen=True, slots=True)
class SnapshotArgs(Request):
    """What to look at, and how closely."""

    target: Annotated[str | None, '"page" (what the person has open), "browser", or an attached one.'] = None
    stage: StageChoice = "focused"
    stage_index: Annotated[int | None, "One window by number."] = None
    format: Literal["outline", "json"] = "outline"
    mode: Annotated[
        Mode | None, "interactive: only what can be operated. brief: short lines for acting. JSON: full or compact."
    ] = None
    depth: Annotated[int | None, "Levels below the root."] = None
    include: Annotated[Include, "Sections to add or leave out.", SECTIONS] = field(default_factory=Include)
    max_tokens: Annotated[int | None, "Budget of the answer (15000; 0 = none).", Limit(ge=0)] = None
    cursor: Annotated[str | None, "From a cut answer."] = None
    since: Annotated[str | None, "Only what changed since this snapshot."] = None
    root: Annotated[AnyRef | None, "Only this node and what is below it."] = None


@tool(
    "ui_get_snapshot",
    SnapshotArgs,
    title="Look at a UI",
    annotations=Annotations(read_only=True),
    aliases=("ui.getSnapshot",),
    refused=invalid_arguments,
)
async def get_snapshot(registry: TargetRegistry, args: SnapshotArgs, call: Call) -> ToolResult:
    """See what a UI shows, as an outline with a uid per node: the person's page, else our browser, or a `target`.

    When: before acting, and to see what happened. Use the uids in ui_perform; pass the snapshot's id as `since` to see
    only changes. Lines with "!" are console errors; a cut outline ends with the `cursor` for the rest. Example: {}
    """
    return await as_tool_result(_snapshot(registry, args))


async def _snapshot(registry: TargetRegistry, args: SnapshotArgs) -> ToolResult:
    if args.format == "json" and args.mode in {"interactive", "brief"}:
        raise UiArgumentError(f"mode {args.mode} is for outlines; JSON has full and compact")
    if args.cursor and args.since:
        raise UiArgumentError("Give `cursor` or `since`, not both")
    target = await registry.target(args.target)
    defaults = _defaults(registry.config)
    request = SnapshotRequest(
        stage=args.stage,
        stage_index=args.stage_index,
        mode=args.mode,
        depth=args.depth,
        include=args.include,
        max_tokens=args.max_tokens,
        cursor=args.cursor,
        since=args.since,
        root=args.root.ref() if args.root else None,
    )
    if args.format == "json":
        whole, text = await as_both(target, request, defaults)
        return ToolResult((Text(text),), structured=whole)
    return text_result(await as_text(target, request, defaults))


def _defaults(config: Config) -> Defaults:
    given = config.introspection.snapshot_defaults
    chosen = Include(given.bounds, given.local_to_screen, given.properties, given.virtualization, given.accessibility)
    limits = Limits(tokens=config.mcp.max_result_chars // 4)  # four characters per token
    return Defaults(given.depth, chosen.sections(frozenset()), limits)
