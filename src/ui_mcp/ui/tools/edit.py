"""`ui_edit`: change an app's files, see and check the result in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ui_mcp.errors import InvalidArgumentsError, UiMcpError, UiNotEnabledError
from ui_mcp.fields import Length
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.diff import Shown, difference, look
from ui_mcp.introspection.target import Target
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, Content, Media, Text, ToolResult
from ui_mcp.ui.editing.changes import FileChange
from ui_mcp.ui.editing.editor import AppEditor, Outcome, Plan
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.tools.display import SHOWN_INLINE

PICTURE = ScreenshotRequest(max_width=800)


@dataclass(frozen=True, slots=True)
class ChangeArgs:
    """One change of one file."""

    path: Annotated[str, "In the app's directory: app.lua, viewdefs/Todo.DEFAULT.html."]
    text: Annotated[str | None, "The whole file."] = None
    old: Annotated[str | None, "Text that occurs once in the file."] = None
    new: Annotated[str | None, "What `old` becomes."] = None
    delete: bool = False


@dataclass(frozen=True, slots=True)
class EditArgs:
    """The changes, and how to answer."""

    app: Annotated[str, "The app's directory in apps/; a new one is created."]
    changes: Annotated[list[ChangeArgs], "In order; each with text, old and new, or delete.", Length(most=200)] = ()  # type: ignore[assignment]
    base: Annotated[str | None, "Version you have seen; refused if the app changed since. Or a draft."] = None
    show: Annotated[bool, "Display the app; starts the server if needed."] = False
    picture: Annotated[bool, "Add a picture that frames what changed."] = False
    undo: Annotated[bool, "Take back the last edit instead."] = False
    dry_run: Annotated[bool, "Only show the difference."] = False


@tool(
    "ui_edit",
    EditArgs,
    title="Edit an app",
    annotations=Annotations(destructive=True),
    meta=SHOWN_INLINE,
)
async def edit(host: UiServer, args: EditArgs, call: Call) -> ToolResult:
    """Write or change an app's files, load them and see the result: the way to build apps.

    When: for every change. All or nothing: if a file fails to load, nothing changes and load_errors says where; correct
    the kept draft with {"base": DRAFT}. Answers version, new audit findings, failed bindings, console errors and what
    changed on the page.
    Example: {"app": "todo", "changes": [{"path": "app.lua", "old": "n = 0", "new": "n = 1"}], "show": true}
    """
    if args.undo and args.changes:
        raise InvalidArgumentsError("Give changes or undo, not both")
    running = await _running(host, start=args.show and not args.dry_run)
    workspace = host.configured().workspace
    editor = AppEditor(workspace, args.app, running.sessions if running else None)
    changes = [FileChange(one.path, one.text, one.old, one.new, one.delete) for one in args.changes]
    async with editor.alone():
        plan = await (editor.plan_undo() if args.undo else editor.plan(changes, args.base))
        problems = [] if args.undo else await editor.check(plan)
        if args.dry_run:
            return _answer(args, Outcome(plan, tuple(problems)), {"dry_run": True, "diff": plan.diff()})
        if problems:
            return _answer(args, await editor.refuse(plan, problems), {})
        if running is None:
            note = {"note": "The server is not started, so nothing was loaded or looked at; show does both."}
            return _answer(args, await editor.apply(plan, show=False), note)
        return await _edit_and_look(host, args, editor, plan)


async def _running(host: UiServer, *, start: bool) -> Running | None:
    if isinstance(host.configured(), Running):
        return host.running()
    return await host.start() if start else None


async def _edit_and_look(host: UiServer, args: EditArgs, editor: AppEditor, plan: Plan) -> ToolResult:
    view = _PageView(host, args)
    await view.before()
    outcome = await editor.apply(plan, show=args.show)
    if outcome.draft:
        return _answer(args, outcome, {})
    seen, pictures = await view.after()
    return _answer(args, outcome, seen, pictures)


class _PageView:
    """Looks at the page before and after an edit; what cannot be seen is said, and never fails the edit."""

    def __init__(self, host: UiServer, args: EditArgs) -> None:
        self._targets = host.targets
        self._args = args
        shown = self._targets.shown()
        self._name = "browser" if args.picture else shown or ("browser" if args.show else None)
        self._opened = shown is None
        """Whether nothing showed the app before."""
        self._before: Shown | None = None
        self._picture: bytes | None = None
        self._note = "" if self._name else "No page is open: nothing was looked at; ui_open_browser, or show"

    async def before(self) -> None:
        if self._name is None or self._opened:
            return
        try:
            target = await self._targets.target(self._name, settled=self._args.picture)
            self._before = await look(target)
            self._picture = await target.screenshot(PICTURE) if self._args.picture else None
        except UiMcpError as error:
            self._name, self._note = None, error.message

    async def after(self) -> tuple[JsonObject, list[Content]]:
        """Return what the answer says about the page, and the pictures."""
        if self._name is None:
            return {"note": self._note}, []
        try:
            target = await self._targets.target(self._name)
            shown = await look(target)
            pictures: list[Content] = (
                [Media("image", await self._pictured(target), "image/png")] if self._args.picture else []
            )
        except UiMcpError as error:
            return {"note": f"Applied, but not seen: {error.message}"}, []
        return _seen(self._before, shown), pictures

    async def _pictured(self, target: Target) -> bytes:
        if not self._targets.config.introspection.allow_screenshots:
            raise UiNotEnabledError("Pictures are switched off here (introspection.allow_screenshots = false)")
        now = await target.screenshot(PICTURE)
        return now if self._picture is None else await target.mark_changes(self._picture, now)


def _seen(before: Shown | None, after: Shown) -> JsonObject:
    known = set(before.problems) if before else set()
    bindings = [problem for problem in after.problems if problem.startswith("binding ")]
    console = [problem for problem in after.problems if problem not in bindings and problem not in known]
    changed = difference(before, after)
    return {"failed_bindings": bindings, "console": console, "outline": changed or "no change on the page"}


def _answer(args: EditArgs, outcome: Outcome, seen: JsonObject, pictures: Sequence[Content] = ()) -> ToolResult:
    plan = outcome.plan
    refused = bool(outcome.draft)
    facts: JsonObject = {
        "ok": not outcome.problems,
        "app": args.app,
        "version": plan.edit.previous if refused or args.dry_run else plan.edit.version,
        "draft": outcome.draft,
        "files": plan.changes(),
        "load_errors": [problem.json() for problem in outcome.problems],
        "audit": [finding.as_json() for finding in plan.found],
        "audit_fixed": plan.fixed,
        **({"note": f"It shows nothing yet. {outcome.note}."} if outcome.note else {}),
        **seen,
    }
    if refused:
        facts["note"] = "Nothing was changed. Correct it with base = draft and only the changes still needed."
    texts: list[Content] = [
        Text(dumps({key: value for key, value in facts.items() if value not in ("", [], 0) or key == "ok"}))
    ]
    return ToolResult((*texts, *pictures), is_error=bool(outcome.problems) and not args.dry_run)
