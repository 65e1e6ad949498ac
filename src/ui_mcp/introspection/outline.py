"""Writes captures as text for models: one line per node, without nodes that are only layout."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ui_mcp.introspection.tree import Capture, Node, Stage
from ui_mcp.jsontypes import JsonObject

TEXT_LENGTH = 80


@dataclass(slots=True, eq=False)
class Entry:
    """A line of the outline with the lines below it."""

    uid: str
    text: str
    children: list["Entry"] = field(default_factory=list)


def outline(capture: Capture) -> str:
    return "\n".join(line for entry in entries(capture) for line in lines(entry))


def entries(capture: Capture) -> list[Entry]:
    return [
        Entry(f"stage {stage.index}", stage_line(stage), subtree(stage.root) if stage.root else [])
        for stage in capture.stages
    ]


def lines(entry: Entry, level: int = 0) -> Iterator[str]:
    """Yield the lines of an entry and its descendants, indented by two spaces per level."""
    pending = [(entry, level)]  # a stack instead of recursion: trees may be deeper than Python's limit
    while pending:
        at, depth = pending.pop()
        yield "  " * depth + at.text
        pending.extend((child, depth + 1) for child in reversed(at.children))


def subtree(root: Node) -> list[Entry]:
    """Return the entries of a node: one, or those of its children if it is only layout."""
    top: list[Entry] = []
    pending: list[tuple[Node, list[Entry]]] = [(root, top)]
    while pending:
        node, into = pending.pop()
        hidden = node.record.get("v") is False or node.record.get("w") is False
        if is_plain(node) and (not hidden or not node.children):
            pending.extend((child, into) for child in reversed(node.children))
            continue
        entry = Entry(node.uid, line(node) + _child_count(node, hidden=hidden))
        into.append(entry)
        if not hidden:  # the line of a hidden node only counts its descendants
            entry.children.extend(Entry(node.uid, text) for text in row_lines(node))
            pending.extend((child, entry.children) for child in reversed(node.children))
    return top


def stage_line(stage: Stage) -> str:
    """Return the line of a window: kind, number, title, size, states and dialog text."""
    facts = stage.facts
    words = [f'{facts.get("kind", "stage")} {stage.index} "{cut(facts.get("title") or "")}"']
    if facts.get("width") is not None:
        words.append(f"{facts['width']:.0f}x{facts['height']:.0f}")
    words += [word for word in ("focused", "modal") if facts.get(word)]
    if facts.get("message") is not None:
        words.append(f'message="{cut(facts["message"])}" buttons={",".join(facts.get("buttons", []))}')
    return " ".join(words)


def line(node: Node) -> str:
    """Return the line of a node: type, uid, #id, text, prompt, value, states."""
    record = node.record
    get = record.get
    words = [f"{record['t']}[{record['er']}]" if "er" in record else record["t"], record["u"]]
    if get("i"):
        words.append(f"#{record['i']}")
    if get("l"):
        words.append(f'"{cut(record["l"])}"')
    if get("lp"):
        words.append(f'prompt="{cut(record["lp"])}"')
    if get("vt"):
        words.append(f'value="{cut(record["vt"])}"')
    words += _states(node)
    if "z" in record:
        words += _virtual(node)
    return " ".join(words)


def is_plain(node: Node) -> bool:
    """Return whether the node is only layout: it has no content and no state of its own."""
    record = node.record
    return bool(record.get("y")) and node.parent is not None and not (record.get("x") or "z" in record)


def row_lines(node: Node) -> Iterator[str]:
    """Yield a line per visible row of a virtualized control; none if its rows are nodes themselves."""
    virtual = node.record.get("z")
    if not virtual or rows_are_nodes(node):
        return
    for row in virtual["visibleCells"]:
        yield row_line(node, row)


def rows_are_nodes(node: Node) -> bool:
    """Return whether the rows are among the descendants; those of a tabbed pane are its tabs, which are not."""
    return bool(node.children) and node.record["z"]["kind"] != "tabs"


def row_line(node: Node, row: JsonObject) -> str:
    """Return the line of a row, indented by its level in a tree: number, cells and states."""
    virtual = node.record["z"]
    names = {column["id"]: column["text"] or column["id"] for column in virtual["columns"]}
    cells = [_cell(names.get(cell["columnId"]), cell["text"]) for cell in row["cells"]]
    states = ["selected"] if row["index"] in virtual["selectedIndices"] else []
    for state, (yes, no) in _ROW_STATES.items():
        if row.get(state) is not None:
            states.append(yes if row[state] else no)
    return "  " * (row.get("level") or 0) + " ".join([f"r{row['index']}", *cells, *states])


_ROW_STATES = {"expanded": ("expanded", "collapsed"), "checked": ("checked", "unchecked")}


def row_uids(node: Node) -> list[str]:
    """Return the uids of the rows of a virtualized control."""
    return [f"{node.uid}:r{row['index']}" for row in node.record.get("z", {}).get("visibleCells", ())]


def cut(text: str, length: int = TEXT_LENGTH) -> str:
    """Return the text on one line, cut to `length` characters, with quotes escaped."""
    flat = " ".join(text.split()) if "\n" in text or "  " in text or "\t" in text else text
    flat = flat if len(flat) <= length else flat[: length - 1] + "…"
    return flat.replace('"', '\\"') if '"' in flat else flat


def _child_count(node: Node, *, hidden: bool) -> str:
    if hidden and node.children:
        return f" ({sum(1 for _ in node.walk()) - 1} inside)"
    truncated = node.record.get("ct")
    return f" (+{truncated} deeper)" if truncated else ""


def _states(node: Node) -> Sequence[str]:
    record = node.record
    get = record.get
    words = []
    if "focused" in get("s", ()):
        words.append("focused")
    if get("x"):
        words.append("disabled")
    if get("v") is False or get("w") is False:
        words.append("hidden")
    if get("vs"):
        words.append("selected")
    if get("vc") is not None:
        words.append("checked" if record["vc"] else "unchecked")
    if get("k"):
        words.append("masked")
    if (get("e") or {}).get("closedShadow"):
        words.append("closed-shadow")
    return words


def _virtual(node: Node) -> Sequence[str]:
    virtual = node.record["z"]
    words = [f"rows={virtual['itemsCount']}"]
    shown = virtual["visibleRange"]
    if shown:
        words.append(f"visible={shown['from']}-{shown['to']}")
    if virtual["selectedIndices"]:
        words.append("selected=" + ",".join(str(index) for index in virtual["selectedIndices"]))
    if virtual["columns"]:
        words.append("cols=" + ",".join(cut(column["text"] or column["id"], 20) for column in virtual["columns"]))
    return words


def _cell(name: str | None, text: str | None) -> str:
    quoted = f'"{cut(text or "")}"'
    return f"{cut(name, 20)}={quoted}" if name else quoted
