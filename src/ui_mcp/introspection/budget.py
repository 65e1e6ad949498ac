"""Cuts a capture to a number of tokens, breadth first, with a cursor for the rest."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import brief, outline, snapshot_json
from ui_mcp.introspection.contract import Mode, tokens
from ui_mcp.introspection.outline import Entry
from ui_mcp.introspection.tree import Capture, Node
from ui_mcp.jsontypes import JsonObject, dumps

_CUT_MARK = len(',"childrenTruncated":100000')
_TAIL = 160
"""Characters reserved for the cursor and the token counts at the end of a page."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position in a capture at which the next page begins."""

    snapshot_id: str
    offset: int

    def __str__(self) -> str:
        return f"{self.snapshot_id}.{self.offset}"

    @classmethod
    def read(cls, text: str) -> "Cursor":
        """Parse a cursor.

        Raises:
            UiArgumentError: the text is not a cursor.
        """
        snapshot_id, dot, offset = text.partition(".")
        if not (snapshot_id and dot and offset.isdecimal()):
            raise UiArgumentError(f"Not a cursor: {text!r}\nPass the `cursor` of an earlier answer unchanged.")
        return cls(snapshot_id, int(offset))


def json_page(capture: Capture, limit: int, offset: int = 0) -> JsonObject:
    """Return the part of the UiSnapshot that begins at `offset` and fits `limit` tokens (0 = all).

    The first page is a snapshot whose truncated parents have `childrenTruncated`;
    later pages are lists of `{parent, index, node}`.
    """
    nodes = list(_breadth_first(capture))
    written = [snapshot_json.alone(node, capture.request.sections) for node in nodes]
    # Later pages add parent and index to each node.
    costs = [len(dumps(one)) + _CUT_MARK + (60 if offset else 0) for one in written]
    total = tokens(dumps(snapshot_json.header(capture))) + sum(costs) // 4
    empty = {**snapshot_json.header(capture), "stages": [snapshot_json.stage(entry, None) for entry in capture.stages]}
    room = limit * 4 - len(dumps(empty)) - _TAIL if limit else sum(costs)
    end = _end_within(costs, offset, room)
    # The costs are estimates: write the page, and shorten it by a tenth until it fits. One node is always returned.
    while True:
        page = (
            _later_page(capture, nodes, written, offset, end) if offset else _first_page(capture, nodes, written, end)
        )
        if end < len(nodes):
            page |= {"truncated": True, "cursor": str(Cursor(capture.id, end))}
        page["tokens"] = {"returned": tokens(dumps(page)), "total": total}
        if not limit or len(dumps(page)) <= limit * 4 or end <= offset + 1:
            return page
        end -= max(1, (end - offset) // 10)


def text_page(capture: Capture, limit: int, offset: int = 0, *, view: Mode | None = None, places: bool = False) -> str:
    """Return the part of the outline that begins at `offset` and fits `limit` tokens (0 = all)."""
    if view == "brief":
        stages = brief.entries(capture)
    else:
        stages = outline.entries(capture, interactive=view == "interactive", places=places)
    if not offset:
        whole = "\n".join(line for entry in stages for line in outline.lines(entry))
        if not limit or len(whole) <= limit * 4:
            return whole
    found = list(_breadth_first_entries(stages))
    # Text, indentation, and a mark for missing children.
    costs = [len(entry.text) + 2 * level + 16 for entry, level, _ in found]
    end = _end_within(costs, offset, limit * 4 - _TAIL if limit else sum(costs))
    while True:
        text = _text(found, offset, end, capture.id)
        if not limit or len(text) <= limit * 4 or end <= offset + 1:
            return text[: limit * 4] if limit else text
        end -= max(1, (end - offset) // 10)


def _breadth_first(capture: Capture) -> Iterator[Node]:
    pending = deque(stage.root for stage in capture.stages if stage.root is not None)
    while pending:
        node = pending.popleft()
        yield node
        pending.extend(node.children)


def _end_within(costs: Sequence[int], offset: int, room: int) -> int:
    end = offset
    for cost in costs[offset:]:
        room -= cost
        if room < 0:
            break
        end += 1
    return min(len(costs), max(end, offset + 1))  # at least one, so that the cursor always advances


def _first_page(capture: Capture, nodes: Sequence[Node], written: Sequence[JsonObject], end: int) -> JsonObject:
    made = {id(node): {**one, "children": []} for node, one in zip(nodes[:end], written[:end], strict=True)}
    _link_children(nodes[:end], made)
    stages = [snapshot_json.stage(entry, made.get(id(entry.root))) for entry in capture.stages]
    return {**snapshot_json.header(capture), "stages": stages}


def _later_page(
    capture: Capture, nodes: Sequence[Node], written: Sequence[JsonObject], offset: int, end: int
) -> JsonObject:
    page = nodes[offset:end]
    made = {id(node): {**one, "children": []} for node, one in zip(page, written[offset:end], strict=True)}
    for node in page:
        _mark_truncated(node, made[id(node)], 0)
    entries = [
        {"parent": node.parent.uid if node.parent else None, "index": node.index, "node": made[id(node)]}
        for node in page
    ]
    return {**snapshot_json.header(capture), "nodes": entries}


def _link_children(nodes: Sequence[Node], made: dict[int, JsonObject]) -> None:
    for node in nodes:
        written = made[id(node)]
        written["children"] = [made[id(child)] for child in node.children if id(child) in made]
        _mark_truncated(node, written, len(written["children"]))


def _mark_truncated(node: Node, written: JsonObject, included: int) -> None:
    missing = len(node.children) - included + int(node.record.get("ct", 0))
    if missing:
        written["childrenTruncated"] = missing


def _breadth_first_entries(stages: Sequence[Entry]) -> Iterator[tuple[Entry, int, Entry | None]]:
    pending: deque[tuple[Entry, int, Entry | None]] = deque((entry, 0, None) for entry in stages)
    while pending:
        entry, level, parent = pending.popleft()
        yield entry, level, parent
        pending.extend((child, level + 1, entry) for child in entry.children)


def _text(found: Sequence[tuple[Entry, int, Entry | None]], offset: int, end: int, snapshot_id: str) -> str:
    page = found[offset:end]
    made = {id(entry): Entry(entry.uid, entry.text) for entry, _, _ in page}
    tops: list[tuple[Entry, Entry | None]] = []
    for entry, _, parent in page:
        if parent is not None and id(parent) in made:
            made[id(parent)].children.append(made[id(entry)])
        else:
            tops.append((made[id(entry)], parent))
    for entry, _, _ in page:
        missing = len(entry.children) - len(made[id(entry)].children)
        made[id(entry)].text += f" (+{missing})" if missing else ""
    written = list(_with_parent_lines(tops))
    if end < len(found):
        written.append(f"… {len(found) - end} more (cursor {Cursor(snapshot_id, end)})")
    return "\n".join(written)


def _with_parent_lines(tops: Sequence[tuple[Entry, Entry | None]]) -> Iterator[str]:
    above: Entry | None = None
    for entry, parent in tops:
        if parent is not None and parent is not above:
            yield f"under {parent.uid}:"
        above = parent
        yield from outline.lines(entry, 1 if parent is not None else 0)
