"""Answers `ui_get_snapshot`: chooses what to read, how much of it to say, and in which form."""

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
    """A wish to see a UI."""

    stage: StageChoice = "focused"
    stage_index: int | None = None
    mode: Mode | None = None
    depth: int | None = None
    include: Include = field(default_factory=Include)
    max_tokens: int | None = None
    cursor: str | None = None
    since: str | None = None
    root: Ref | None = None


async def as_text(target: Target, look: SnapshotRequest, defaults: Defaults = Defaults()) -> str:
    """Return the outline, or what changed in it."""
    with gc_paused():
        return await _text(target, look, defaults)


async def _text(target: Target, look: SnapshotRequest, defaults: Defaults) -> str:
    limit = defaults.limits.tokens if look.max_tokens is None else look.max_tokens
    if look.cursor:
        capture, offset, stale = await _continued(target, look, look.cursor)
        return ("stale: the UI has changed since\n" if stale else "") + budget.text_page(capture, limit, offset)
    capture = await _capture(target, _outline_ask(look))
    head = _headline(target, capture)
    before = target.kept(look.since) if look.since else None
    if before is not None and before.ask == capture.ask:
        changes = compare(before, capture, with_layout=bool(look.include.bounds)).text()
        if not limit or len(changes) <= limit * 4:
            return "\n".join([changes, *_problems(target)])
    note = [f"full: nothing kept to compare with {look.since}"] if look.since else []
    extra = "\n".join([head, *note, *_problems(target)])
    return extra + "\n" + budget.text_page(capture, max(1, limit - len(extra) // 4 - 1) if limit else 0)


async def as_json(target: Target, look: SnapshotRequest, defaults: Defaults = Defaults()) -> JsonObject:
    """Return the UiSnapshot, a page of it, or what changed in it."""
    return (await as_both(target, look, defaults))[0]


async def as_both(target: Target, look: SnapshotRequest, defaults: Defaults = Defaults()) -> tuple[JsonObject, str]:
    """Return the UiSnapshot as JSON and as text: the same JSON, or the outline where that would be very long."""
    with gc_paused():
        return await _both(target, look, defaults)


async def _both(target: Target, look: SnapshotRequest, defaults: Defaults) -> tuple[JsonObject, str]:
    limit = defaults.limits.tokens if look.max_tokens is None else look.max_tokens
    if look.cursor:
        capture, offset, stale = await _continued(target, look, look.cursor)
        return _twice(budget.json_page(capture, limit, offset) | ({"stale": True} if stale else {}))
    if look.mode == "full" or look.mode is None:
        capture = await _capture(target, _json_ask(look, "full", defaults))
        explicit = look.mode == "full" and look.max_tokens is None
        whole = _changes(target, look, capture) or _whole(target, capture, look)
        room = defaults.limits.hard_chars if explicit or not limit else limit * 4
        text = dumps(whole)
        if len(text) <= room:
            usual = defaults.limits.tokens
            return whole, text if len(text) <= usual * 4 else budget.text_page(capture, usual)
        if look.mode == "full":
            return _twice(budget.json_page(capture, limit))
    capture = await _capture(target, _json_ask(look, "compact", defaults))
    changed = _changes(target, look, capture)
    if changed and (not limit or len(dumps(changed)) <= limit * 4):
        return _twice(changed)
    return _twice(budget.json_page(capture, limit) | ({"full": True} if look.since else {}))


def _twice(answer: JsonObject) -> tuple[JsonObject, str]:
    return answer, dumps(answer)


async def _capture(target: Target, ask: CaptureRequest) -> Capture:
    if ask.root is not None:
        await target.node(ask.root, replace(ask, depth=0, sections=COMPACT))
    return await target.capture(ask)


def _outline_ask(look: SnapshotRequest) -> CaptureRequest:
    ask = _ask(look)
    sections = look.include.sections(frozenset({"virtualization"}))
    return replace(ask, depth=UNLIMITED_DEPTH if look.depth is None else look.depth, sections=sections)


def _json_ask(look: SnapshotRequest, mode: Mode, defaults: Defaults) -> CaptureRequest:
    depth, sections = (COMPACT_DEPTH, COMPACT) if mode == "compact" else (defaults.depth, defaults.sections)
    return replace(
        _ask(look), depth=depth if look.depth is None else look.depth, sections=look.include.sections(sections)
    )


def _ask(look: SnapshotRequest) -> CaptureRequest:
    if look.depth is not None and look.depth < 0:
        raise UiArgumentError(f"depth must be 0 or more, not {look.depth}")
    stage: StageChoice | int = look.stage if look.stage_index is None else look.stage_index
    return CaptureRequest(
        stage="all" if look.root else stage,
        internals=bool(look.include.internals),
        popups=look.include.popups is not False,
        root=look.root,
    )


async def _continued(target: Target, look: SnapshotRequest, text: str) -> tuple[Capture, int, bool]:
    cursor = budget.Cursor.read(text)
    kept = target.kept(cursor.snapshot_id)
    if kept is None:
        raise UiArgumentError(f"The capture of cursor {text} is no longer kept\nTake a new snapshot.")
    now = await target.capture(kept.ask)
    return kept, cursor.offset, now.id != kept.id


def _headline(target: Target, capture: Capture) -> str:
    app = capture.app
    name = app.get("name") or app.get("mainClass") or target.name
    words = [f"snapshot {capture.id}", f"target {target.name}", outline.cut(str(name))]
    changed = () if capture.consistent else ("the UI changed while it was read",)
    return " · ".join([*words, *capture.warnings, *changed])


def _problems(target: Target) -> list[str]:
    return [f"! {outline.cut(problem, 300)}" for problem in target.backend.problems()]


def _whole(target: Target, capture: Capture, look: SnapshotRequest) -> JsonObject:
    problems = target.backend.problems()
    return (
        snapshot_json.snapshot(capture)
        | ({"problems": problems} if problems else {})
        | ({"full": True} if look.since else {})
    )


def _changes(target: Target, look: SnapshotRequest, capture: Capture) -> JsonObject | None:
    before = target.kept(look.since) if look.since else None
    if before is None or before.ask != capture.ask:
        return None
    return compare(before, capture, with_layout=bool(look.include.bounds)).json(capture)
