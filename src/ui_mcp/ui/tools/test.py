"""`ui_test`: run a scenario against an app."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from ui_mcp.errors import IntrospectError, NotFoundError, UiActionFailedError, UiArgumentError, UiMcpError
from ui_mcp.fields import Length, Named, Schema
from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.diff import difference, look
from ui_mcp.introspection.perform import Failure, play
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import Target
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, Content, Media, Text, ToolResult, json_result
from ui_mcp.ui.introspected import wait_rendered
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.session import Session

_TEXT: JsonObject = {"type": "string"}
_SELECTOR: JsonObject = {"type": "object", "properties": {"css": _TEXT, "text": _TEXT}}
_EXPECT: JsonObject = {"selector": _SELECTOR, "text": _TEXT, "count": {"type": "integer"}}
STEP = Schema(
    {
        "type": "object",
        "properties": {
            "type": _TEXT,
            "target": _SELECTOR,
            **dict.fromkeys(("text", "key", "value"), _TEXT),
            "checked": {"type": "boolean"},
            "expect": {"type": "object", "properties": _EXPECT},
        },
    }
)
"""What a step may be, as it is listed: every object names its fields, since strict hosts refuse others."""


@dataclass(frozen=True, slots=True)
class TestArgs(Request):
    """The scenario."""

    __test__ = False  # keeps pytest from collecting it

    steps: Annotated[
        list[Annotated[JsonObject, STEP]],
        "Actions of ui_perform, whose target may be a selector, and expectations of selector, text and count.",
        Length(least=1, most=200),
    ]
    app: Annotated[str | None, "App to display first; absent = what is displayed."] = None
    target: Annotated[str | None, '"browser" (default), "page", or an attached one.'] = None
    session_id: Annotated[str, Named("sessionId"), "A fork: how it then differs from session 1 is answered."] = "1"


@tool("ui_test", TestArgs, title="Test an app", annotations=Annotations(destructive=True), refused=invalid_arguments)
async def scenario(host: UiServer, args: TestArgs, call: Call) -> ToolResult:
    """Play a scenario against an app as a person would, and check what shows; each step has a few seconds.

    When: an app is done, or a bug is to be pinned. Answers {"ok": true}, or the failing step with outline and picture.
    Example: {"steps": [{"type": "click", "target": {"css": "#add"}}, {"expect": {"selector": {"text": "Ann"}}}]}
    """
    return await as_tool_result(_play(host, args))


async def _play(host: UiServer, args: TestArgs) -> ToolResult:
    session = _session(host, args) if args.app is not None or args.session_id != "1" else None
    if session is not None and args.app is not None:
        try:
            await session.display(args.app)
        except IntrospectError:
            raise
        except UiMcpError as error:
            raise UiActionFailedError(f"Cannot display {args.app}: {error.message}", reason="DISPLAY") from error
    if session is not None and args.session_id != "1":
        return await _play_in_fork(host, args, session)
    target = await host.targets.target(args.target or "browser")
    failure = await play(target, args.steps)
    if failure is None:
        return json_result({"ok": True, "steps": len(args.steps)})
    return ToolResult(await _report(target, failure), is_error=True)


def _session(host: UiServer, args: TestArgs) -> Session:
    try:
        return host.running().sessions.get(args.session_id)
    except NotFoundError as error:
        raise UiArgumentError(f"{error.message}\nui_undo with fork makes one.") from error


async def _play_in_fork(host: UiServer, args: TestArgs, session: Session) -> ToolResult:
    """Play in a browser of its own, because session 1 goes on in the other, and compare what both show."""
    url = host.running().entry_to(session.secret)
    async with host.targets.own_browser(url, partial(wait_rendered, session)) as fork:
        failure = await play(fork, args.steps)
        if failure is not None:
            return ToolResult(await _report(fork, failure), is_error=True)
        after = await look(fork)
    before = await look(await host.targets.target("browser"))
    after = replace(after, lines=after.keys)  # that browser is gone, and its uids name nothing any more
    return json_result({"ok": True, "steps": len(args.steps), "differs": difference(before, after)})


async def _report(target: Target, failure: Failure) -> tuple[Content, ...]:
    parts: list[Content] = [Text(dumps(failure.json()))]
    try:
        parts.append(Text(await as_text(target, SnapshotRequest(stage="all", max_tokens=4000))))
        parts.append(Media("image", await target.screenshot(ScreenshotRequest(max_width=1000)), "image/png"))
    except IntrospectError as error:
        parts.append(Text(f"No picture: {error.message}"))
    return tuple(parts)
