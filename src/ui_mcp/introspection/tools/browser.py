"""`ui_browser`: history, tabs, logs, looks and storage of a browser."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ui_mcp.config import IntrospectionSettings
from ui_mcp.errors import UiArgumentError, UiNotEnabledError
from ui_mcp.fields import Before, Schema
from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.backend import BrowserRequest
from ui_mcp.introspection.contract import Limits, as_tool_result, invalid_arguments
from ui_mcp.introspection.hand_over import HandOver
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, Media, ToolResult, text_result

Operation = Literal[
    "help", "navigate", "back", "forward", "reload", "tabs", "new_tab", "select_tab", "close_tab", "network", "console",
    "emulate", "cookies", "storage", "evaluate", "pdf", "compare", "webmcp", "hand_over",
]  # fmt: skip

HELP = """navigate {url}, back, forward, reload: answer the tabs and the outline
tabs, new_tab {url?}, select_tab {tab}, close_tab {tab?}: other operations take `tab` too
network {text?}: requests that contain the text, "failed" for failed ones; {id}: headers and bodies of one
console {text?}: all messages that contain the text; options {"before": NUMBER} for older ones, also for network
emulate {options}: device (phone, tablet, laptop, desktop), width, height, dark, reducedMotion, print; null resets one
cookies, storage {options}: {"set": {NAME: VALUE}, "clear": true}; storage: "session": true for sessionStorage
evaluate {text}: the value of a JavaScript expression
pdf: the page as a file
compare: what has changed since the last picture of the tab, as a picture
webmcp: the tools that the page offers; {id: NAME, options: INPUT} calls one
hand_over {text}: the person does what the text asks, such as a login, in this browser, while you see nothing of it
  and wait 50 s (options {"seconds": 1 to 110}); call it again to go on waiting; {"cancel": true} before they begin"""

_OUTLINED = frozenset({"navigate", "back", "forward", "reload", "new_tab", "select_tab"})
_READING = frozenset({"tabs", "network", "console", "compare"})
OUTLINE_TOKENS = 4000
HAND_OVER_SECONDS = 50
MAX_HAND_OVER_SECONDS = 110


def _as_object(value: Json) -> Json:
    """Return options that are written as JSON, since some hosts take no object of any fields."""
    try:
        return loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError("options is a JSON object") from error


@dataclass(frozen=True, slots=True)
class BrowserArgs(Request):
    """What to do."""

    op: Operation
    url: str | None = None
    tab: int | None = None
    id: str | None = None
    text: str | None = None
    options: Annotated[JsonObject, Before(_as_object), Schema({"type": "string", "description": "JSON"})] = field(
        default_factory=dict
    )
    target: str | None = None


@tool(
    "ui_browser",
    BrowserArgs,
    title="Use a browser",
    annotations=Annotations(open_world=True),
    refused=invalid_arguments,
)
async def browser(registry: TargetRegistry, args: BrowserArgs, call: Call) -> ToolResult:
    """Navigate, use tabs, read network and console, emulate devices, call a page's WebMCP tools.

    When: a page is not only looked at. op "help" says what each takes. Example: {"op": "network", "text": "failed"}
    """
    return await as_tool_result(_browse(registry, args))


async def _browse(registry: TargetRegistry, args: BrowserArgs) -> ToolResult:
    if args.op == "help":
        return text_result(HELP)
    settings = registry.config.introspection
    if args.op == "hand_over" and registry.hand_overs.current is not None:
        return await _wait_for_person(registry, registry.hand_overs.current, args)
    target = await registry.browser(args.target)
    _require_allowed(settings, args)
    if args.url is not None:
        registry.require_reachable(target, args.url)
    if args.op == "hand_over":
        return await _wait_for_person(registry, await registry.hand_overs.offer(target, args.text or ""), args)
    request = BrowserRequest(args.op, args.url, args.tab, args.id, args.text, args.options)
    answer = await target.browse(request)
    if isinstance(answer, bytes):
        return ToolResult((Media("image", answer, "image/png"),))
    if args.op in _OUTLINED:
        limits = Limits(tokens=OUTLINE_TOKENS)
        answer += "\n" + await as_text(target, SnapshotRequest(max_tokens=limits.tokens))
    return text_result(answer)


async def _wait_for_person(registry: TargetRegistry, hand_over: HandOver, args: BrowserArgs) -> ToolResult:
    if args.options.get("cancel") and not hand_over.was_driven:
        await registry.hand_overs.end("You took the browser back.")
    seconds = args.options.get("seconds", HAND_OVER_SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 1 <= seconds <= MAX_HAND_OVER_SECONDS:
        raise UiArgumentError(f"seconds is a number from 1 to {MAX_HAND_OVER_SECONDS}")
    if not await hand_over.wait(seconds):
        who = "operates" if hand_over.is_driven else "has been asked to operate"
        return text_result(
            f"The person {who} the browser now, on their own page (ui_open_browser opens it)\n"
            "Until they give it back it can be neither seen nor operated. Call hand_over again to go on waiting."
        )
    tabs = await hand_over.target.browse(BrowserRequest("tabs"))
    outline = await as_text(hand_over.target, SnapshotRequest(max_tokens=OUTLINE_TOKENS))
    return text_result(f"{hand_over.outcome}\n{tabs!s}\n{outline}")


def _require_allowed(settings: IntrospectionSettings, args: BrowserArgs) -> None:
    """Check that the settings allow the operation.

    Raises:
        UiNotEnabledError: they do not; the message names the setting.
    """
    listing = args.op == "webmcp" and not args.id
    if args.op not in _READING and not listing and not settings.allow_actions:
        raise _switched_off("Operating UIs", "allow_actions", "READ_ONLY")
    if args.op in {"pdf", "compare"} and not settings.allow_screenshots:
        raise _switched_off("Pictures", "allow_screenshots", "NO_SCREENSHOTS")
    if args.op in {"cookies", "storage"} and not settings.allow_cookies:
        raise _switched_off("Reading and setting cookies and storage", "allow_cookies", "NO_COOKIES")
    if args.op == "evaluate" and not settings.allow_evaluate:
        raise _switched_off("Running scripts in pages", "allow_evaluate", "NO_EVALUATE")
    if settings.redact and (args.op == "evaluate" or (args.op == "network" and args.id)):
        raise UiNotEnabledError("Bodies and scripts could show what introspection.redact masks", reason="REDACTED")


def _switched_off(what: str, setting: str, reason: str) -> UiNotEnabledError:
    remedy = f"A person can allow it: introspection.{setting} = true, then `ui-mcp trust`."
    return UiNotEnabledError(f"{what} is switched off here (introspection.{setting} = false)\n{remedy}", reason=reason)
