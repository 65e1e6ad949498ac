"""`ui_test`: run a scenario against an app."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Literal

from ui_mcp.errors import (
    IntrospectError,
    NotFoundError,
    UiActionFailedError,
    UiArgumentError,
    UiMcpError,
    UiNotEnabledError,
)
from ui_mcp.fields import Length, Named, Schema
from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.backend import ScreenshotRequest, Watchable
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.diff import difference, look
from ui_mcp.introspection.perform import Failure, play
from ui_mcp.introspection.recording.playwright import code
from ui_mcp.introspection.recording.recorded_target import start, stop
from ui_mcp.introspection.recording.recorder import Recording
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.introspection.tools.perform import require_actions
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, Content, Media, Text, ToolResult, json_result, text_result
from ui_mcp.ui.introspected import wait_rendered
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.session import Session

Record = Literal["start", "stop", "playwright"]
_TEXT: JsonObject = {"type": "string"}
_SELECTOR: JsonObject = {"type": "object", "properties": {"css": _TEXT, "text": _TEXT}}
_TARGET: JsonObject = {"type": "object", "properties": dict.fromkeys(("css", "text", "role", "row"), _TEXT)}
_EXPECT: JsonObject = {"selector": _SELECTOR, "text": _TEXT, "count": {"type": "integer"}}
STEP = Schema(
    {
        "type": "object",
        "properties": {
            "type": _TEXT,
            "target": _TARGET,
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
        "Actions of ui_perform and expectations of selector, text and count; absent = the last recording.",
        Length(most=400),
    ] = field(default_factory=list)
    record: Annotated[
        Record | None,
        "Record what you and the person do; stop returns steps, playwright code.",
    ] = None
    app: Annotated[str | None, "App to display first; absent = what is displayed."] = None
    target: Annotated[str | None, '"browser" (default), "page", or an attached one.'] = None
    session_id: Annotated[str, Named("sessionId"), "A fork; answers how it differs from session 1."] = "1"


@tool("ui_test", TestArgs, title="Test an app", annotations=Annotations(destructive=True), refused=invalid_arguments)
async def scenario(host: UiServer, args: TestArgs, call: Call) -> ToolResult:
    """Play a scenario against an app as a person would, and check what shows.

    When: an app is done, or a bug is to be pinned. Answers {"ok": true}, or the failing step with outline and pictures.
    Example: {"steps": [{"type": "click", "target": {"css": "#add"}}, {"expect": {"selector": {"text": "Ann"}}}]}
    """
    return await as_tool_result(_play(host, args))


async def _play(host: UiServer, args: TestArgs) -> ToolResult:
    require_actions(host.targets.config.introspection)
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
    if args.record is not None:
        return await _record(host.targets, args.record, args.target)
    steps = args.steps or _last(host.targets).steps
    target = await host.targets.target(args.target or "browser")
    if target.name != "browser":  # our own browser shows the app again, as it is
        target.require_notified()
    return await _played(host, target, steps) or json_result({"ok": True, "steps": len(steps)})


async def _record(targets: TargetRegistry, what: Record, name: str | None) -> ToolResult:
    if what == "start":
        if (recorded := targets.recorded()) is not None:
            raise UiNotEnabledError(f"{recorded.name!r} is being recorded\nStop that first.", reason="RECORDING")
        target = await targets.target(name)
        await start(target)
        who = "you and the person do" if isinstance(target.backend, Watchable) else "you do"
        return json_result({"recording": target.name, "noted": f"what {who}, until ui_test is called with record stop"})
    if (recorded := targets.recorded()) is not None:
        targets.recording = await stop(recorded)
    done = _last(targets)
    if what == "stop":
        return json_result(done.json())
    if not done.url:
        raise UiArgumentError("Playwright operates pages only\nCall with record stop for steps of ui_test.")
    return text_result(code(done))


def _last(targets: TargetRegistry) -> Recording:
    if targets.recording is None:
        raise UiArgumentError('Nothing was recorded\nGive steps, or call ui_test with record "start" first.')
    return targets.recording


async def _played(host: UiServer, target: Target, steps: Sequence[JsonObject]) -> ToolResult | None:
    """Play the steps; return the report of a failure, or None."""
    pictures = host.targets.config.introspection.allow_screenshots
    failure = await play(target, steps, picture=partial(_picture, target) if pictures else None)
    if failure is None:
        return None
    return ToolResult(await _report(target, failure, pictures=pictures), is_error=True)


def _session(host: UiServer, args: TestArgs) -> Session:
    try:
        return host.running().sessions.get(args.session_id)
    except NotFoundError as error:
        raise UiArgumentError(f"{error.message}\nui_undo with fork makes one.") from error


async def _play_in_fork(host: UiServer, args: TestArgs, session: Session) -> ToolResult:
    """Play in a browser of its own, because session 1 goes on in the other, and compare what both show."""
    url = host.running().entry_to(session.secret)
    async with host.targets.own_browser(url, partial(wait_rendered, session)) as fork:
        if (failed := await _played(host, fork, args.steps)) is not None:
            return failed
        after = await look(fork)
    before = await look(await host.targets.target("browser"))
    after = replace(after, lines=after.keys)  # that browser is gone, and its uids name nothing any more
    return json_result({"ok": True, "steps": len(args.steps), "differs": difference(before, after)})


async def _report(target: Target, failure: Failure, *, pictures: bool) -> tuple[Content, ...]:
    """Return the failure, the outline, and pictures of now and before the last action."""
    parts: list[Content] = [Text(dumps(failure.json()))]
    try:
        parts.append(Text(await as_text(target, SnapshotRequest(stage="all", max_tokens=4000))))
    except IntrospectError as error:
        parts.append(Text(f"No outline: {error.message}"))
    now = await _picture(target) if pictures else None
    parts.append(Media("image", now, "image/png") if now is not None else Text("No picture"))
    if failure.before is not None:
        parts += [Text("Before the last action:"), Media("image", failure.before, "image/png")]
    return tuple(parts)


async def _picture(target: Target) -> bytes | None:
    with suppress(IntrospectError):
        return await target.screenshot(ScreenshotRequest(max_width=1000))
    return None
