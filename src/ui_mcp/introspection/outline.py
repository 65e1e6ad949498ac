"""Writes captures as text for models: one line per node, without nodes that are only layout."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ui_mcp.introspection.tree import Capture, Node, Stage
from ui_mcp.jsontypes import JsonObject

TEXT_LENGTH = 200


@dataclass(slots=True, eq=False)
class Entry:
    """A line of the outline with the lines below it."""

    uid: str
    text: str
    children: list["Entry"] = field(default_factory=list)
    wraps: bool = False
    """An element of a page of which nothing is known but its tag: with one entry below it, it says nothing."""


def outline(capture: Capture) -> str:
    return "\n".join(line for entry in entries(capture) for line in lines(entry))


def entries(capture: Capture, *, interactive: bool = False, places: bool = False) -> list[Entry]:
    """Return an entry per window; with `interactive` only what can be operated is below it."""
    return [
        Entry(
            f"stage {stage.index}",
            stage_line(stage),
            subtree(stage.root, interactive=interactive, places=places) if stage.root else [],
        )
        for stage in capture.stages
    ]


def lines(entry: Entry, level: int = 0) -> Iterator[str]:
    """Yield the lines of an entry and its descendants, indented by two spaces per level."""
    pending = [(entry, level)]  # a stack instead of recursion: trees may be deeper than Python's limit
    while pending:
        at, depth = pending.pop()
        yield "  " * depth + at.text
        pending.extend((child, depth + 1) for child in reversed(at.children))


def subtree(root: Node, *, interactive: bool = False, places: bool = False) -> list[Entry]:
    """Return the entries of a node: one, or those of its children if it is only layout.

    With `interactive` only what can be operated has an entry, all on one level. With `places` lines have their bounds.
    """
    top: list[Entry] = []
    pending: list[tuple[Node, list[Entry], _Grid | None]] = [(root, top, None)]
    while pending:
        node, into, grid = pending.pop()
        hidden = is_hidden(node)
        if hidden and not _is_named(node):
            continue
        if grid is not None and (text := grid.line(node)) is not None:
            into.extend([Entry(grid.node.uid, text)] if text else [])
            continue
        if is_plain(node) or (interactive and not is_operable(node) and "z" not in node.record):
            pending.extend((child, into, grid) for child in reversed(node.children))
            continue
        entry = Entry(node.uid, line(node, places=places) + _child_count(node, hidden=hidden), wraps=_is_bare(node))
        into.append(entry)
        below = into if interactive else entry.children
        if not hidden:  # the line of a hidden node only counts its descendants
            below.extend(Entry(node.uid, text) for text in row_lines(node))
            inner = _Grid.of(node) or grid
            pending.extend((child, below, inner) for child in reversed(node.children))
    return _unwrapped(top)


def _unwrapped(top: list[Entry]) -> list[Entry]:
    """Put the only entry of each element that merely wraps it in the place of that element."""
    above = Entry("", "", top)
    pending = [above]
    while pending:
        at = pending.pop()
        at.children[:] = [inner for child in at.children if (inner := _innermost(child))]
        pending.extend(at.children)
    return above.children


def _innermost(entry: Entry) -> Entry | None:
    while entry.wraps and len(entry.children) == 1:
        entry = entry.children[0]
    is_empty = entry.wraps and not entry.children and entry.text.split(" ", 1)[0] in _HOLDERS
    return None if is_empty else entry


def _is_bare(node: Node) -> bool:
    record = node.record
    return record["t"] in WRAPPERS and "er" not in record and line(node) == f"{record['t']} {node.uid}"


WRAPPERS = frozenset(
    [
        "div",
        "span",
        "section",
        "article",
        "nav",
        "li",
        "dd",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "header",
        "footer",
        "main",
        "aside",
        "form",
        "details",
    ]
)


@dataclass(slots=True, eq=False)
class _Grid:
    """A grid whose rows are nodes: each is written as one line, with what can be operated in its cells."""

    node: Node
    rows: dict[str, JsonObject]
    labels: dict[int, str] = field(default_factory=dict)
    """What the operable parts of the row before were called, by position; written once."""

    @classmethod
    def of(cls, node: Node) -> "_Grid | None":
        virtual = node.record.get("z")
        if not virtual or virtual["kind"] not in _GRIDS or not node.children:
            return None
        return cls(node, {row["uid"]: row for row in virtual["visibleCells"] if "uid" in row})

    def line(self, node: Node) -> str | None:
        """Return the line of a row, an empty one for a header without controls, None for other nodes."""
        if node.uid in self.rows:
            return self._row(node, self.rows[node.uid])
        if self.rows and _role(node) == "row":
            controls = self._controls(node)
            self.labels.clear()
            return " ".join(["head", *controls]) if controls else ""
        return None

    def _row(self, node: Node, row: JsonObject) -> str:
        """Return the line of a row; a cell that is one control is written as that control."""
        labelled = {control.record.get("l"): control for control in self._operable(node)}
        whole = {text: labelled[text] for cell in row["cells"] if (text := cell["text"]) and text in labelled}
        if len(whole) < 2:
            return " ".join([row_line(self.node, row), *self._controls(node)])
        cells = [
            f"[{line(whole[cell['text']])}]" if cell["text"] in whole else _cell(None, cell["text"])
            for cell in row["cells"]
        ]
        used = {control.uid for control in whole.values()}
        others = [f"[{line(control)}]" for control in self._operable(node) if control.uid not in used]
        return " ".join([f"r{row['index']}", *cells, *others])

    def _operable(self, row: Node) -> list[Node]:
        found = [below for below in row.walk() if is_operable(below) and _role(below) not in _CELLS]
        return [node for node in found if not is_hidden(node)]

    def _controls(self, row: Node) -> list[str]:
        return [f"[{self._control(at, node)}]" for at, node in enumerate(self._operable(row))]

    def _control(self, at: int, node: Node) -> str:
        label = node.record.get("l") or ""
        repeated, self.labels[at] = self.labels.get(at) == label, label
        words = [kind(node.record), node.uid, f'"{cut(label, 20)}"' if label and not repeated else "", *states(node)]
        return " ".join(word for word in words if word)


_GRIDS = frozenset({"grid", "treegrid", "table"})
_CELLS = frozenset({"row", "gridcell", "cell", "rowheader", "columnheader", "td", "th", "tr"})


def _role(node: Node) -> str:
    return str(node.record.get("er") or ("row" if node.record["t"] == "tr" else node.record["t"]))


def is_hidden(node: Node) -> bool:
    """Return whether the node or one above it is hidden."""
    return node.record.get("v") is False or node.record.get("w") is False


def _is_named(node: Node) -> bool:
    """Return whether the author of the UI gave the node an id."""
    return bool(node.record.get("i")) and "ig" not in node.record


def is_operable(node: Node) -> bool:
    """Return whether a person operates the node, and not only reads it."""
    record = node.record
    return bool(record.get("a") or _CONTROL.search(record["t"])) or ("z" in record and not rows_are_nodes(node))


_CONTROL = re.compile("(Button|Field|Area|(?<![HV])Box|Slider|Spinner|Picker|Hyperlink|MenuItem|Menu|Tab|JTabbedPane)$")
"""The classes of JavaFX and Swing that are operated; pages mark such elements themselves."""


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


def line(node: Node, *, places: bool = False, brief: bool = False) -> str:
    """Return the line of a node: type, uid, #id, text, prompt, value, states, options, and with `places` its bounds.

    With `brief` it has no id if it has a text, and no type if it is only text.
    """
    record = node.record
    get = record.get
    words = [record["u"]] if brief and is_text(record) else [kind(record), record["u"]]
    if get("i") and "ig" not in record and not (brief and (get("l") or get("lp"))):
        words.append(f"#{record['i']}")
    if get("l"):
        words.append(f'"{cut(record["l"])}"')
    elif len(words) == 2 and "z" not in record and all(is_plain(child) for child in node.children):
        words += _class(record)
    if get("lp"):
        words.append(f'prompt="{cut(record["lp"])}"')
    if get("vt"):
        words.append(f'value="{cut(record["vt"])}"')
    words += states(node)
    more = get("e") or {}
    if more.get("colour"):
        words.append(f"colour={more['colour']}")
    if more.get("options"):
        words.append(_options(more["options"]))
    if "z" in record:
        words += _virtual(node)
    if places and "bs" in record:
        words.append("@" + ",".join(f"{side:.0f}" for side in record["bs"]))
    return " ".join(words)


SHOWN_OPTIONS = 12
"""Options of a choice that are written; the rest is counted."""


def _options(options: Sequence[str]) -> str:
    """Return what can be chosen."""
    more = [f"+{len(options) - SHOWN_OPTIONS}"] if len(options) > SHOWN_OPTIONS else []
    return f"options=[{' | '.join([*(cut(text, 30) for text in options[:SHOWN_OPTIONS]), *more])}]"


def _class(record: JsonObject) -> Sequence[str]:
    """Return the style class of what is known by it alone, such as an icon; one that repeats the type says nothing."""
    given = (record.get("c") or ("",))[-1] if record["t"] not in _HOLDERS else ""
    own = _WORDS.sub("-", str(record["t"])).lower()  # JavaFX gives every CheckBox the class check-box
    return [f".{given}"] if given and not own.endswith(given) else []


_HOLDERS = frozenset(["nav", "form", "section", "header", "footer", "main", "aside", "details"])
"""Elements that are only there for others; with nothing to show below them, they say nothing."""

_WORDS = re.compile("(?<=[a-z0-9])(?=[A-Z])")


def kind(record: JsonObject) -> str:
    """Return the tag or class, or the role of what is only a box in a page."""
    role, tag = record.get("er"), str(record["t"])
    if role is None or tag == "summary" or tag.replace("-", "").endswith(role):
        return tag
    return str(role) if tag in {"div", "span"} else f"{tag}[{role}]"


def is_text(record: JsonObject) -> bool:
    """Return whether a record is of a text that is not operated, with a type that says no more than that."""
    return bool(record.get("l")) and record["t"] in _TEXTS and "er" not in record and "a" not in record


_TEXTS = frozenset({
    "div", "span", "p", "label", "b", "i", "em", "strong", "small", "td", "li", "dd", "dt", "font", "center",
    "Label", "Text", "JLabel",
})  # fmt: skip


def is_plain(node: Node) -> bool:
    """Return whether the node is only layout: it has no content and no state of its own."""
    record = node.record
    if node.parent is None:
        return record["t"] == "body" and not record.get("l")
    return bool(record.get("y")) and "z" not in record


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
    # All cells in the order of the columns need no names: the line of the control has them.
    complete = [cell["columnId"] for cell in row["cells"]] == [*names]
    cells = [_cell(None if complete else names.get(cell["columnId"]), cell["text"]) for cell in row["cells"]]
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


def states(node: Node) -> Sequence[str]:
    """Return the words for the node's states: focused, disabled, hidden, selected, checked, masked."""
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
