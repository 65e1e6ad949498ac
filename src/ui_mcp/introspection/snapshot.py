"""Answers `ui_get_snapshot`: chooses what to capture, how much of it to return, and in which format."""

from dataclasses import dataclass, field, replace

from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import budget, outline, snapshot_json
from ui_mcp.introspection.arguments import Include
from ui_mcp.introspection.contract import (
    COMPACT,
    COMPACT_DEPTH,
    UNLIMITED_DEPTH,
    CaptureRequest,
    Defaults,
    Mode,
    Ref,
    StageChoice,
)
from ui_mcp.introspection.diff import compare
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.tree import Capture, gc_paused
from ui_mcp.jsontypes import JsonObject, dumps


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """The options of a snapshot."""

    stage: StageChoice = "focused"
    stage_index: int | None = None
    mode: Mode | None = None
    depth: int | None = None
    include: Include = field(default_factory=Include)
    max_tokens: int | None = None
    cursor: str | None = None
    since: str | None = None
    root: Ref | None = None


async def as_text(target: Target, request: SnapshotRequest, defaults: Defaults = Defaults()) -> str:
    """Return the outline, a page of it, or the changes since an earlier snapshot."""
    with gc_paused():
        return await _text(target, request, defaults)


async def _text(target: Target, request: SnapshotRequest, defaults: Defaults) -> str:
    limit = defaults.limits.tokens if request.max_tokens is None else request.max_tokens
    places = bool(request.include.bounds)
    if request.cursor:
        capture, offset, stale = await _continue(target, request, request.cursor)
        return ("stale: the UI has changed since\n" if stale else "") + budget.text_page(
            capture, limit, offset, view=request.mode, places=places
        )
    capture = await _capture(target, _outline_capture_request(request))
    head = _headline(target, capture)
    before = target.kept_capture(request.since) if request.since else None
    if before is not None and before.request == capture.request:
        diff = compare(before, capture, with_layout=bool(request.include.bounds))
        changes = diff.text()
        if not limit or len(changes) <= limit * 4:
            await target.tell(diff.row_uids())
            return "\n".join([changes, *_problems(target)])
    await _tell_rows(target, capture)
    note = [f"full: nothing kept to compare with {request.since}"] if request.since else []
    extra = "\n".join([head, *note, *_problems(target)])
    room = max(1, limit - len(extra) // 4 - 1) if limit else 0
    return extra + "\n" + budget.text_page(capture, room, view=request.mode, places=places)


async def as_json(target: Target, request: SnapshotRequest, defaults: Defaults = Defaults()) -> JsonObject:
    """Return the UiSnapshot, a page of it, or the changes since an earlier snapshot."""
    return (await as_both(target, request, defaults))[0]


async def as_both(target: Target, request: SnapshotRequest, defaults: Defaults = Defaults()) -> tuple[JsonObject, str]:
    """Return the UiSnapshot as JSON and as text; the text is the outline if the JSON exceeds the usual limit."""
    with gc_paused():
        return await _both(target, request, defaults)


async def _tell_rows(target: Target, capture: Capture) -> None:
    await target.tell(uid for node in capture.nodes() for uid in outline.row_uids(node))


async def _both(target: Target, request: SnapshotRequest, defaults: Defaults) -> tuple[JsonObject, str]:
    limit = defaults.limits.tokens if request.max_tokens is None else request.max_tokens
    if request.cursor:
        capture, offset, stale = await _continue(target, request, request.cursor)
        return _with_text(budget.json_page(capture, limit, offset) | ({"stale": True} if stale else {}))
    # Without a mode: full if it fits the limit, else compact.
    if request.mode != "compact" and (full := await _full(target, request, defaults, limit)):
        return full
    capture = await _capture(target, _json_capture_request(request, "compact", defaults))
    await _tell_rows(target, capture)
    changed = _changes(target, request, capture)
    if changed and (not limit or len(dumps(changed)) <= limit * 4):
        return _with_text(changed)
    return _with_text(budget.json_page(capture, limit) | ({"full": True} if request.since else {}))


async def _full(
    target: Target, request: SnapshotRequest, defaults: Defaults, limit: int
) -> tuple[JsonObject, str] | None:
    """Return the whole snapshot, or None if it exceeds the limit and the caller did not insist on full mode."""
    capture = await _capture(target, _json_capture_request(request, "full", defaults))
    await _tell_rows(target, capture)
    insists = request.mode == "full"
    whole = _changes(target, request, capture) or _whole(target, capture, request)
    unlimited = (insists and request.max_tokens is None) or not limit
    text = dumps(whole)
    if len(text) <= (defaults.limits.hard_chars if unlimited else limit * 4):
        usual = defaults.limits.tokens
        return whole, text if len(text) <= usual * 4 else budget.text_page(capture, usual)
    return _with_text(budget.json_page(capture, limit)) if insists else None


def _with_text(answer: JsonObject) -> tuple[JsonObject, str]:
    return answer, dumps(answer)


async def _capture(target: Target, wanted: CaptureRequest) -> Capture:
    if wanted.root is not None:
        # Raises the more helpful error for a root that no longer exists.
        await target.node(wanted.root, replace(wanted, depth=0, sections=COMPACT))
    return await target.capture(wanted)


def _outline_capture_request(request: SnapshotRequest) -> CaptureRequest:
    base = _base_capture_request(request)
    sections = request.include.sections(frozenset({"virtualization"}))
    return replace(base, depth=UNLIMITED_DEPTH if request.depth is None else request.depth, sections=sections)


def _json_capture_request(request: SnapshotRequest, mode: Mode, defaults: Defaults) -> CaptureRequest:
    depth, sections = (COMPACT_DEPTH, COMPACT) if mode == "compact" else (defaults.depth, defaults.sections)
    return replace(
        _base_capture_request(request),
        depth=depth if request.depth is None else request.depth,
        sections=request.include.sections(sections),
    )


def _base_capture_request(request: SnapshotRequest) -> CaptureRequest:
    if request.depth is not None and request.depth < 0:
        raise UiArgumentError(f"depth must be 0 or more, not {request.depth}")
    stage: StageChoice | int = request.stage if request.stage_index is None else request.stage_index
    return CaptureRequest(
        stage="all" if request.root else stage,
        internals=bool(request.include.internals),
        popups=request.include.popups is not False,
        root=request.root,
    )


async def _continue(target: Target, request: SnapshotRequest, text: str) -> tuple[Capture, int, bool]:
    cursor = budget.Cursor.read(text)
    kept = target.kept_capture(cursor.snapshot_id)
    if kept is None:
        raise UiArgumentError(f"The capture of cursor {text} is no longer kept\nTake a new snapshot.")
    now = await target.capture(kept.request)
    return kept, cursor.offset, now.id != kept.id


def _headline(target: Target, capture: Capture) -> str:
    app = capture.app
    name = app.get("name") or app.get("mainClass") or target.name
    words = [f"snapshot {capture.id}", target.name, outline.cut(str(name))]
    changed = () if capture.consistent else ("the UI changed while it was read",)
    return " · ".join([*words, *capture.warnings, *changed])


def _problems(target: Target) -> list[str]:
    return [f"! {outline.cut(problem, 300)}" for problem in target.problems()]


def _whole(target: Target, capture: Capture, request: SnapshotRequest) -> JsonObject:
    problems = target.problems()
    return (
        snapshot_json.snapshot(capture)
        | ({"problems": problems} if problems else {})
        | ({"full": True} if request.since else {})
    )


def _changes(target: Target, request: SnapshotRequest, capture: Capture) -> JsonObject | None:
    before = target.kept_capture(request.since) if request.since else None
    if before is None or before.request != capture.request:
        return None
    return compare(before, capture, with_layout=bool(request.include.bounds)).json(capture)
