"""Finds selectors that mean a node in a later run too: role and name, label, test id, row; never a uid."""

import re
from collections.abc import Iterator, Sequence

from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.selectors import chosen, matching, parts_of, role_of, row_above, shown_texts, texts_of
from ui_mcp.introspection.tree import Capture, Node
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import read

LONG_NAME = 80
"""Longer texts change too easily to find a node by."""
_BARE = frozenset({"div", "span", "b", "i", "em", "strong", "body", "g", "center", "u", "small", "label"})
"""Types that say nothing about what a node is for."""


def node_of(capture: Capture, uid: str | None, path: str | None = None) -> Node | None:
    """Return a node, row, cell or column header of a capture by its uid, else by its path."""
    control = uid.partition(":")[0] if uid else None
    for node in capture.nodes():
        if node.uid == uid or (uid is None and node.path == path):
            return node
        if node.uid == control:
            return next((part for part in (*parts_of(node), *_whole_rows(node)) if part.uid == uid), None)
    return None


def locator(capture: Capture, node: Node) -> JsonObject | None:
    """Return the first stable selector that means exactly this node; None if there is none."""
    nodes = list(capture.nodes())
    for given in _candidates(node):
        if (found := _first(nodes, given)) is not None and found.uid == node.uid:
            return given
    return _numbered(nodes, node)


def found_by(capture: Capture, selector: JsonObject) -> list[Node]:
    """Return what a selector of ours matches in a capture, which was read without it."""
    nodes = list(capture.nodes())
    css = selector.get("css")
    if css is not None:
        return [node for node in nodes if css in {_id(node), _test_id(node)}]
    return matching(nodes, read(Selector, selector))


def name_of(node: Node) -> str:
    """Return the label of a node, or the prompt of a field without one."""
    return str(node.record.get("l") or node.record.get("lp") or "")


def identity(node: Node) -> str | None:
    """Return the css selector of a node to which its author gave a test id or an id."""
    return _test_id(node) or _id(node)


def _candidates(node: Node) -> Iterator[JsonObject]:
    name, role = name_of(node), _telling_role(node)
    short = name if len(name) <= LONG_NAME else ""
    if short and role:
        yield {"role": role, "text": short}
    if short and short in texts_of(node):
        yield {"text": short}
    if own := identity(node):
        yield {"css": own}
    for text in _row_texts(node):
        yield from _in_row(text, short, role, node)
    if name and role:
        yield {"role": role, "text": name}


def _in_row(row: str, name: str, role: str, node: Node) -> Iterator[JsonObject]:
    if ":r" in node.uid and ":c" not in node.uid:
        yield {"row": row}
    elif name:
        yield {"row": row, **({"role": role} if role else {}), "text": name}
    elif role:
        yield {"row": row, "role": role}


def _numbered(nodes: Sequence[Node], node: Node) -> JsonObject | None:
    """Return the selector of a node that only its place among its equals tells from others."""
    name, role = name_of(node), role_of(node)
    for given in ({"role": role, "text": name} if name else None, {"text": name} if name else None, {"role": role}):
        if given is None:
            continue
        selector = read(Selector, given)
        for nth in range(len(matching(nodes, selector))):
            found = _first(nodes, numbered := {**given, "nth": nth})
            if found is not None and found.uid == node.uid:
                return numbered
    return None


def _first(nodes: Sequence[Node], given: JsonObject) -> Node | None:
    css = given.get("css")
    if css is None:
        selector = read(Selector, given)
        return chosen(matching(nodes, selector), selector)
    same = [node for node in nodes if css in {_id(node), _test_id(node)}]
    return same[0] if len(same) == 1 else None


def _telling_role(node: Node) -> str:
    if ":" in node.uid:
        return ""  # a part of a control: its role is that of the control's rows in some toolkits only
    role = role_of(node)
    return "" if role in _BARE else role


def _row_texts(node: Node) -> Iterator[str]:
    """Yield the texts beside a node by which a person would name its row."""
    own = set(shown_texts(node, Selector(role="any")))
    if ":" in node.uid:
        control, whole = node.parent, ":c" not in node.uid
        parts = parts_of(control) if control is not None else ()
        yield from (text for part in parts if part.index == node.index and ":h" not in part.uid
                    for text in texts_of(part) if whole or text not in own)  # fmt: skip
        return
    row = row_above(node)
    if row is None or row is node:
        return
    texts = (text for below in row.walk() for text in texts_of(below))
    yield from dict.fromkeys(text for text in texts if text not in own and 0 < len(text) <= LONG_NAME)


def _whole_rows(control: Node) -> Iterator[Node]:
    known: set[int] = set()
    for cell in parts_of(control):
        if ":r" in cell.uid and cell.index not in known:
            known.add(cell.index)
            yield Node({**cell.record, "u": cell.uid.partition(":c")[0]}, cell.path, control, cell.index)


def _id(node: Node) -> str | None:
    given = str(node.record.get("i") or "")
    return f"#{given}" if _PLAIN_ID.fullmatch(given) and "ig" not in node.record else None


_PLAIN_ID = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


def _test_id(node: Node) -> str | None:
    return (node.record.get("e") or {}).get("testId")
