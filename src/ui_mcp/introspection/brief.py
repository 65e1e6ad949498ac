"""Writes captures as short text for acting: what is seen and can be operated, texts that are together on one line."""

from dataclasses import dataclass

from ui_mcp.introspection import outline
from ui_mcp.introspection.outline import Entry, is_hidden, is_operable
from ui_mcp.introspection.tree import Capture, Node, Stage


def entries(capture: Capture) -> list[Entry]:
    """Return an entry per window, and those of its content, all on one level but for dialogs and drawings."""
    alone = len(capture.stages) == 1
    return [entry for stage in capture.stages for entry in _stage(stage, alone=alone)]


def _stage(stage: Stage, *, alone: bool) -> list[Entry]:
    content = [part.entry for part in _parts(stage.root)] if stage.root else []
    if alone:  # there is nothing to distinguish
        return [
            Entry(f"stage {stage.index}", f'stage {stage.index} "{outline.cut(stage.facts.get("title") or "")}"'),
            *content,
        ]
    return [Entry(f"stage {stage.index}", outline.stage_line(stage), content)]


@dataclass(slots=True, eq=False)
class _Part:
    """What stands for a node: its entry, and its text if it says nothing else."""

    entry: Entry
    text: str = ""
    """The quoted text of what is only text."""


def _parts(root: Node) -> list[_Part]:
    """Return the parts of a tree; from the leaves up, since what is inside a node decides how it is written."""
    made: dict[str, list[_Part]] = {}
    for node in reversed(list(root.walk())):
        below = [part for child in node.children for part in made.pop(child.uid)]
        made[node.uid] = [] if is_hidden(node) else _written(node, below)
    return made[root.uid]


def _written(node: Node, below: list[_Part]) -> list[_Part]:
    if "z" in node.record:
        return [_Part(entry) for entry in outline.subtree(node)]
    if _groups(node):
        return [_joined(node, below)] if _are_texts(node, below) else below
    if outline.is_plain(node):
        return below
    own = str(node.record.get("l") or "")
    if len(below) == 1 and not own and not below[0].entry.children:
        return [_merged(node, below[0])]
    entry = Entry(node.uid, outline.line(node, brief=True), [part.entry for part in below])
    is_text = not below and own and _says_only(node)
    return [_Part(entry, f'"{outline.cut(own)}"' if is_text else "")]


def _are_texts(node: Node, below: list[_Part]) -> bool:
    return node.parent is not None and len(below) > 1 and all(part.text for part in below)


def _joined(node: Node, below: list[_Part]) -> _Part:
    """Return one line for texts that are together, as the cells of a row are."""
    kind = [str(node.record["t"])] if node.record["t"] in _KINDS else []
    return _Part(Entry(node.uid, " ".join([*kind, node.uid, *(part.text for part in below)])))


def _merged(node: Node, only: _Part) -> _Part:
    """Return one line for a nameless node and what is in it: a button and its text, or a link and its tab's state."""
    if only.text:
        words = [outline.kind(node.record), node.uid, only.text, *outline.states(node)]
        return _Part(Entry(node.uid, " ".join(words)))
    states = [state for state in outline.states(node) if f" {state}" not in only.entry.text]
    return _Part(Entry(only.entry.uid, " ".join([only.entry.text, *states])))


def _groups(node: Node) -> bool:
    """Return whether the node only holds others: a box or a group that has no text, whatever its id."""
    record = node.record
    tag, role = record["t"], record.get("er")
    if record.get("l") or is_operable(node) or not node.children or any(key in record for key in _OWN):
        return False
    return role in _GROUP_ROLES if role else tag in outline.WRAPPERS or tag in _BOXES


def _says_only(node: Node) -> bool:
    """Return whether a text is all there is to the node, so that its uid is not needed to operate it."""
    return outline.is_text(node.record) and not outline.states(node)


_OWN = ("lp", "vt", "vs", "vc", "k")
_KINDS = frozenset({"tr", "ul", "ol"})
_BOXES = frozenset(
    [
        "tr",
        "tbody",
        "thead",
        "table",
        "ul",
        "ol",
        "dl",
        "form",
        "fieldset",
        "VBox",
        "HBox",
        "BorderPane",
        "GridPane",
        "StackPane",
        "AnchorPane",
        "FlowPane",
        "TilePane",
        "Pane",
        "Group",
        "Region",
        "JPanel",
        "JRootPane",
        "JLayeredPane",
    ]
)
_GROUP_ROLES = frozenset(
    ["group", "rowgroup", "region", "list", "tablist", "tabpanel", "radiogroup", "row", "toolbar", "main", "navigation"]
)
