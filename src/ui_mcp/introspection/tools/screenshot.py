"""`ui_screenshot`: a screenshot of a UI."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Annotated, Literal

from ui_mcp.errors import UiNotEnabledError
from ui_mcp.fields import Limit
from ui_mcp.introspection.arguments import WHOLE, AnyRef, Request
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, Media, ToolResult, structured_result


@dataclass(frozen=True, slots=True)
class ScreenshotArgs(Request):
    """What to photograph."""

    stage_index: Annotated[int | None, "Window by number; default: the focused one."] = None
    ref: Annotated[AnyRef | None, "Only this node."] = None
    full_page: Annotated[bool, "The whole page, not only what shows."] = False
    max_width: Annotated[int | None, "Scale down to it.", Limit(ge=16, le=10_000), WHOLE] = None
    annotate: Annotated[bool, "Draw boxes with uids over what can be operated."] = False
    format: Annotated[Literal["image", "json"], "An image, or {contentType, dataBase64}."] = "image"
    target: Annotated[str | None, '"browser" or an attached one; a person\'s own page gives no pictures.'] = None


@tool(
    "ui_screenshot",
    ScreenshotArgs,
    title="Photograph a UI",
    annotations=Annotations(read_only=True),
    aliases=("ui.screenshot",),
    refused=invalid_arguments,
)
async def screenshot(registry: TargetRegistry, args: ScreenshotArgs, call: Call) -> ToolResult:
    """Take a picture of a UI as a PNG: a window, or one node.

    When: looks matter; the outline is cheaper for text. Example: {"maxWidth": 800}
    """
    return await as_tool_result(_screenshot(registry, args))


async def _screenshot(registry: TargetRegistry, args: ScreenshotArgs) -> ToolResult:
    if not registry.config.introspection.allow_screenshots:
        raise UiNotEnabledError(
            "Pictures are switched off here (introspection.allow_screenshots = false)", reason="NO_SCREENSHOTS"
        )
    # Not the default target: the page that a person has open cannot take screenshots of itself.
    default = "browser" if registry.serving else None
    target = await registry.target(args.target or default)
    ref = args.ref.ref() if args.ref else None
    request = ScreenshotRequest(args.stage_index, ref, args.max_width, args.annotate, args.full_page)
    png = await target.screenshot(request)
    if args.format == "json":
        return structured_result({"contentType": "image/png", "dataBase64": b64encode(png).decode()})
    return ToolResult((Media("image", png, "image/png"),))
