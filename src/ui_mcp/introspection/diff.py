"""Compares two captures of one UI: by uid, or as the lines of their outlines, which survive a new tree."""

import difflib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ui_mcp.introspection import outline, snapshot_json
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.outline import Entry, is_hidden
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.tree import Capture, Node, Stage
from ui_mcp.jsontypes import JsonObject

MAX_LINES = 150
"""Longest difference of two outlines."""


@dataclass(frozen=True, slots=True)
class Change:
    """A node that is in both captures, with its new values by name."""

    node: Node
    values: JsonObject
    before: Node

    def shows(self) -> bool:
        """Return whether the node, hidden before, is shown now."""
        return is_hidden(self.before) and not is_hidden(self.node)

    def lines(self) -> list[str]:
        """Return what the outline says now and did not say before: the node's line and its new rows."""
        hides = is_hidden(self.node) and not is_hidden(self.before)
        if self.node.record.get("w") is False or (outline.is_plain(self.node) and not hides):
            return []
        line = outline.line(self.node)
        rows = [f"  {outline.row_line(self.node, row)}" for row in self.new_rows()]
        return [f"~ {line}", *rows] if rows or line != outline.line(self.before) else []

    def new_rows(self) -> list[JsonObject]:
        """Return the rows that show something else than before; none if rows are nodes themselves."""
        if "z" not in self.node.record or outline.rows_are_nodes(self.node) or is_hidden(self.node):
            return []
        old = {row["index"]: row for row in self.before.record.get("z", {}).get("visibleCells", ())}
        return [row for row in self.node.record["z"]["visibleCells"] if old.get(row["index"]) != row]


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences between two captures."""

    since: str
    now: str
    added: tuple[Node, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    moved: tuple[Node, ...]
    gone: tuple[Node, ...] = ()
    """The nodes that `removed` names."""
    opened: tuple[Stage, ...] = ()
    closed: tuple[Stage, ...] = ()

    def json(self, capture: Capture) -> JsonObject:
        """Return the difference in the format of the contract."""
        sections = capture.request.sections
        return {
            "since": self.since,
            "snapshotId": self.now,
            "added": [{**_position(node), "node": snapshot_json.tree(node, sections)} for node in self.added],
            "removed": list(self.removed),
            "changed": [{"uid": change.node.uid, "set": change.values} for change in self.changed],
            "moved": [{"uid": node.uid, **_position(node)} for node in self.moved],
        }

    def text(self) -> str:
        """Return the difference as text for a model: `+` added, `-` removed, `~` changed, `>` moved."""
        return "\n".join([f"now {self.now}", *(self._lines() or ["no change"])])

    def row_uids(self) -> list[str]:
        """Return the uids of the rows that the text shows."""
        appeared = (below for node in self._appeared() for below in node.walk())
        changed = (f"{change.node.uid}:r{row['index']}" for change in self.changed for row in change.new_rows())
        return [*(uid for node in appeared for uid in outline.row_uids(node)), *changed]

    def _lines(self) -> list[str]:
        lines = [f"+ {outline.stage_line(stage)}" for stage in self.opened]
        lines += [f"- {outline.stage_line(stage)}" for stage in self.closed]
        for node in self._appeared():
            entries = outline.subtree(node)
            if entries:
                lines.append(f"+ in {node.parent.uid if node.parent else 'stage'} at {node.index}:")
                lines += [line for entry in entries for line in outline.lines(entry, 1)]
        removed = [entry.uid for node in self.gone for entry in outline.subtree(node)]
        lines += [f"- {' '.join(removed)}"] if removed else []
        lines += [line for change in self.changed if not change.shows() for line in change.lines()]
        lines += [
            f"> {node.uid} to {node.parent.uid if node.parent else 'stage'} at {node.index}"
            for node in self.moved
            if not outline.is_plain(node)
        ]
        return lines

    def _appeared(self) -> list[Node]:
        """Return the topmost nodes that were added, or that were hidden before."""
        shown = {change.node.uid for change in self.changed if change.shows()}
        tops = [
            change.node
            for change in self.changed
            if change.node.uid in shown and (change.node.parent is None or change.node.parent.uid not in shown)
        ]
        inside = {below.uid for top in tops for below in top.walk()}
        return [*(node for node in self.added if node.uid not in inside), *tops]


def compare(before: Capture, after: Capture, *, with_layout: bool = False) -> Diff:
    """Compare two captures of the same request; bounds are compared only `with_layout`."""
    old = {node.uid: node for node in before.nodes()}
    new = {node.uid: node for node in after.nodes()}
    stayed = [node for uid, node in new.items() if uid in old]
    ignored = _IGNORED if with_layout else _IGNORED | _LAYOUT
    changes = ((node, _changes(old[node.uid], node, ignored)) for node in stayed)
    gone = tuple(_only_in(old, new))
    return Diff(
        since=before.id,
        now=after.id,
        added=tuple(_only_in(new, old)),
        removed=tuple(node.uid for node in gone),
        changed=tuple(Change(node, values, old[node.uid]) for node, values in changes if values),
        moved=tuple(_moved(old, new)),
        gone=gone,
        opened=_stages_only_in(after, before),
        closed=_stages_only_in(before, after),
    )


def _stages_only_in(capture: Capture, other: Capture) -> tuple[Stage, ...]:
    known = {stage.facts["uid"] for stage in other.stages}
    return tuple(stage for stage in capture.stages if stage.facts["uid"] not in known)


# Position in the tree, selector match and screen coordinates: reported as moves, or not a change of the node.
_IGNORED = frozenset({"p", "n", "q", "sc"})
_LAYOUT = frozenset({"bp", "bs"})
_NAMES = {
    "t": "type", "m": "module", "i": "id", "c": "styleClass", "s": "pseudoClass", "v": "visible", "g": "managed",
    "x": "disabled", "o": "opacity", "l": "text.label", "lp": "text.prompt", "vt": "value.text",
    "vs": "value.selected", "vc": "value.checked", "k": "value.masked", "ro": "accessibility.role",
    "he": "accessibility.help", "tt": "fx.properties.tooltip", "ud": "fx.properties.userData", "w": "shown",
    "z": "virtualization", "bp": "layout.boundsInParent", "bs": "layout.boundsInScene", "ct": "childrenTruncated",
    "er": "role", "y": "plain", "e": "more",
}  # fmt: skip
_DEFAULTS = {"v": True, "g": True, "x": False, "o": 1.0, "c": [], "s": [], "w": True}


def _parent(node: Node) -> str | None:
    return node.parent.uid if node.parent else None


def _position(node: Node) -> JsonObject:
    return {"parent": _parent(node), "index": node.index}


def _changes(before: Node, after: Node, ignored: frozenset[str]) -> JsonObject:
    old, new = before.record, after.record
    if old == new:
        return {}
    keys = [key for key in (*new, *(key for key in old if key not in new)) if key not in ignored]
    return {_NAMES.get(key, key): _new_value(after, key) for key in keys if old.get(key) != new.get(key)}


def _new_value(node: Node, key: str) -> object:
    value = node.record.get(key, _DEFAULTS.get(key))
    if key == "z" and value is not None:
        return snapshot_json.rows(node)
    return snapshot_json.box(value) if key in _LAYOUT else value


def _only_in(nodes: dict[str, Node], others: dict[str, Node]) -> Iterator[Node]:
    """Yield the nodes that are not among `others`, without descendants of such nodes."""
    for uid, node in nodes.items():
        if uid not in others and (node.parent is None or node.parent.uid in others):
            yield node


def _moved(old: dict[str, Node], new: dict[str, Node]) -> Iterator[Node]:
    for node in new.values():
        before = old.get(node.uid)
        if before is not None and _parent(before) != _parent(node):
            yield node
        kept = [child for child in node.children if child.uid in old and _parent(old[child.uid]) == node.uid]
        # Report as few moves as possible: the longest run that is still in order stays.
        in_order = _longest_increasing([old[child.uid].index for child in kept])
        yield from (child for at, child in enumerate(kept) if at not in in_order)


def _longest_increasing(numbers: Sequence[int]) -> set[int]:
    """Return the positions of a longest increasing subsequence."""
    if all(left < right for left, right in pairwise(numbers)):  # the usual case: nothing moved
        return set(range(len(numbers)))
    # Patience sorting, O(n log n).
    ends: list[int] = []
    last_at: list[int] = []
    before: list[int] = []
    for position, number in enumerate(numbers):
        slot = bisect_left(ends, number)
        before.append(last_at[slot - 1] if slot else -1)
        ends[slot : slot + 1] = [number]
        last_at[slot : slot + 1] = [position]
    found: set[int] = set()
    position = last_at[-1]
    while position >= 0:
        found.add(position)
        position = before[position]
    return found


@dataclass(frozen=True, slots=True)
class Shown:
    """What a UI showed at one moment."""

    lines: tuple[str, ...]
    keys: tuple[str, ...]
    """The lines without uids."""
    problems: tuple[str, ...]
    """Failed bindings and errors of the console since the last look."""


async def look(target: Target) -> Shown:
    """Read the UI.

    Raises:
        IntrospectError: it cannot be read.
    """
    capture = await target.capture(CaptureRequest(stage="all"))
    found = [line for entry in outline.entries(capture) for line in _lines(entry, 0)]
    await target.tell(uid for node in capture.nodes() for uid in outline.row_uids(node))
    lines, keys = tuple(line for line, _ in found), tuple(key for _, key in found)
    return Shown(lines, keys, tuple(target.problems()))


def difference(before: Shown | None, after: Shown) -> str:
    """Return the lines that are gone (`-`) and new (`+`), each after the line above it; all, without a `before`."""
    if before is None:
        return _cut(list(after.lines))
    found: list[str] = []
    matcher = difflib.SequenceMatcher(None, before.keys, after.keys)
    for kind, old, old_end, new, new_end in matcher.get_opcodes():
        if kind != "equal":
            found += [f"  {line}" for line in after.lines[max(0, new - 1) : new]]
            found += [f"- {line}" for line in before.keys[old:old_end]]
            found += [f"+ {line}" for line in after.lines[new:new_end]]
    return _cut(found)


def _lines(entry: Entry, level: int) -> list[tuple[str, str]]:
    """Return the lines of an entry and those below it, each with and without its uid."""
    found, pending = [], [(entry, level)]
    while pending:
        at, depth = pending.pop()
        indent = "  " * depth
        found.append((indent + at.text, indent + at.text.replace(f" {at.uid}", "", 1)))
        pending.extend((child, depth + 1) for child in reversed(at.children))
    return found


def _cut(lines: list[str]) -> str:
    more = len(lines) - MAX_LINES
    return "\n".join([*lines[:MAX_LINES], *([f"… {more} more lines; ui_get_snapshot shows all"] if more > 0 else [])])
