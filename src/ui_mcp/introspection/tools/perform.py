"""`ui_perform`: perform actions on a UI."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ui_mcp.config import IntrospectionSettings
from ui_mcp.errors import UiArgumentError, UiNotEnabledError
from ui_mcp.fields import Limit
from ui_mcp.introspection.action_lines import actions_of, opening
from ui_mcp.introspection.arguments import WHOLE, Action, Actions, Request
from ui_mcp.introspection.backend import BrowserRequest
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.perform import ActionBatch, Observe, batch_result, perform, short_result
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult


@dataclass(frozen=True, slots=True)
class PerformArgs(Request):
    """What to do."""

    do: Annotated[
        str | None,
        "An action per line: click UID, setText UID text, select UID option, pressKey CTRL+A, "
        'click "Save", click #id; first navigate URL.',
    ] = None
    actions: Annotated[
        Actions | None,
        "Instead of `do`, where an action needs more.",
    ] = None
    await_ui_idle: Annotated[bool, "After each action."] = True
    timeout_ms: Annotated[int, "For the whole call.", Limit(ge=1, le=600_000), WHOLE] = 5000
    observe: Annotated[Observe | None, "Also answer what changed (diff), or what is shown."] = None
    target: str | None = None


@tool(
    "ui_perform",
    PerformArgs,
    title="Operate a UI",
    annotations=Annotations(destructive=True),
    aliases=("ui.perform",),
    refused=invalid_arguments,
)
async def act(registry: TargetRegistry, args: PerformArgs, call: Call) -> ToolResult:
    r"""Click, type, set text, press keys, scroll, select, drag, answer dialogs, as a person would.

    When: you try the app. What a person could not do now is refused with the reason; observe "diff" shows the effect.
    Example: {"do": "setText a7 Ann\nclick a12", "observe": "diff"}
    """
    return await as_tool_result(_perform(registry, args))


def require_actions(settings: IntrospectionSettings) -> None:
    """Check that agents may operate UIs.

    Raises:
        UiNotEnabledError: they may only look; the reason is `READ_ONLY`.
    """
    if not settings.allow_actions:
        raise UiNotEnabledError(
            "Operating UIs is switched off here (introspection.allow_actions = false)", reason="READ_ONLY"
        )


async def _perform(registry: TargetRegistry, args: PerformArgs) -> ToolResult:
    require_actions(registry.config.introspection)
    url, actions = _requested(args)
    if url is None:
        target = await registry.target(args.target)
        target.require_notified()
    else:
        target = await _opened(registry, args.target, url)
    # A page that has just been opened is all new.
    observe = "outline" if url is not None and args.observe == "diff" else args.observe
    result = await perform(target, ActionBatch(actions, args.await_ui_idle, args.timeout_ms, observe))
    return batch_result(result) if args.actions is not None else short_result(result)


async def _opened(registry: TargetRegistry, name: str | None, url: str) -> Target:
    """Open a page in a browser and return the browser."""
    target = await registry.browser(name)
    registry.require_reachable(target, url)
    await target.browse(BrowserRequest("navigate", url))
    return target


def _requested(args: PerformArgs) -> tuple[str | None, Sequence[Action]]:
    """Return the URL to open first, if there is one, and the actions."""
    if (args.do is None) == (args.actions is None):
        raise UiArgumentError('Give `do` or `actions`, for example {"do": "click a12"}')
    if args.actions is not None:
        return None, args.actions
    url, lines = opening(args.do or "")
    return url, () if url is not None and not lines.strip() else actions_of(lines)
