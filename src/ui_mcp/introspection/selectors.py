"""Finds the nodes that a selector matches, and tells whether they are what a scenario expects."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import anyio

from ui_mcp.errors import UiArgumentError
from ui_mcp.fields import Before, Limit
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.arguments import Predicate, Request, Selector
from ui_mcp.introspection.outline import cut, rows_are_nodes
from ui_mcp.introspection.tree import Node
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads


def matching(nodes: Sequence[Node], selector: Selector, regex_hits: frozenset[str] = frozenset()) -> list[Node]:
    """Return the nodes that match every given part of the selector.

    The backend has already marked the nodes that match `css`; `regex_hits` are the texts that match the pattern.

    Raises:
        UiArgumentError: the selector is empty.
    """
    tests = _tests(selector)
    texts = _text_tests(selector, regex_hits)
    if not (tests or texts or selector.row):
        raise UiArgumentError("The selector is empty\nGive at least one of css, text, role, row and predicate.")
    if selector.row is not None:
        return _in_rows(nodes, selector.row, tests, texts)
    return [
        part
        for node in nodes
        if all(test(node) for test in tests)
        for part in ([node, *parts_of(node)] if texts else [node])
        if all(test(part) for test in texts)
    ]


def chosen(found: Sequence[Node], selector: Selector) -> Node | None:
    """Return the visible match that an action means: those with exactly the text come before others."""
    visible = [node for node in found if is_visible(node)]
    exact = [node for node in visible if selector.text in shown_texts(node, selector)]
    among = exact or visible
    return among[selector.nth] if selector.nth < len(among) else None


def shown_texts(node: Node, selector: Selector) -> tuple[str, ...]:
    """Return the texts by which a selector finds the node; with a role, an empty field is known by its prompt too."""
    prompt = node.record.get("lp") if selector.role else None
    return (*texts_of(node), prompt) if prompt else texts_of(node)


def role_of(node: Node) -> str:
    """Return the accessible role of a node, or its type if it has none."""
    role = str(node.record.get("ro") or node.record.get("er") or "").lower()
    return str(node.record["t"]) if role in _NO_ROLES else role


_NO_ROLES = frozenset({"", "generic", "none", "presentation", "node", "parent", "panel", "unknown"})


def texts_of(node: Node) -> tuple[str, ...]:
    """Return the texts that a person sees on the node itself."""
    get = node.record.get
    return tuple(text for text in (get("l"), get("vt")) if text)


def parts_of(node: Node) -> Iterator[Node]:
    """Yield the headers and cells of a virtualized control, or its rows if it has no columns, as nodes.

    None if its rows are nodes themselves.
    """
    virtual = node.record.get("z")
    if not virtual or rows_are_nodes(node):
        return
    hidden: JsonObject = {key: node.record[key] for key in ("v", "w", "x") if key in node.record}
    for column in virtual["columns"]:
        record = {"u": f"{node.uid}:h{column['id']}", "t": "ColumnHeader", "l": column["text"] or "", **hidden}
        yield Node(record, f"{node.path}/ColumnHeader[{column['id']}]", node, 0)
    row_type = virtual.get("rowType", "row")
    for row in virtual["visibleCells"]:
        path = f"{node.path}/{row_type}[{row['index']}]"
        for cell in row["cells"]:
            column = "" if cell["columnId"] is None else f":c{cell['columnId']}"
            record = {"u": f"{node.uid}:r{row['index']}{column}", "t": row_type, "l": cell["text"] or "", **hidden}
            yield Node(record, path, node, row["index"])


def described(node: Node) -> JsonObject:
    """Return a match in the format of `ui_query`."""
    record = node.record
    return {
        "ref": {"path": node.path, "uid": record["u"]},
        "type": record["t"],
        "id": record.get("i"),
        "summary": summary(node),
        "layout": {"boundsInScene": snapshot_json.box(record.get("bs"))},
    }


def summary(node: Node) -> str:
    """Return type and text, or type and id, of a node."""
    record = node.record
    text = record.get("l") or record.get("vt") or record.get("lp")
    if text:
        return f"{record['t']}[text={cut(text)}]"
    return f"{record['t']}[id={record['i']}]" if record.get("i") else str(record["t"])


def _tests(selector: Selector) -> list[Callable[[Node], bool]]:
    tests: list[Callable[[Node], bool]] = []
    if selector.css is not None:
        tests.append(lambda node: bool(node.record.get("q")))
    if selector.role is not None:
        wanted = selector.role.casefold()
        tests.append(lambda node: wanted in {role_of(node).casefold(), str(node.record["t"]).casefold()})
    if selector.predicate is not None:
        tests += _predicate_tests(selector.predicate)
    return tests


def _text_tests(selector: Selector, regex_hits: frozenset[str]) -> list[Callable[[Node], bool]]:
    """Return the conditions on text, which the rows and cells of a control meet instead of the control."""
    tests: list[Callable[[Node], bool]] = []
    if selector.text is not None:
        tests.append(_text_test(selector, regex_hits))
    if selector.predicate is not None and selector.predicate.text_contains is not None:
        tests.append(_text_test(Selector(text=selector.predicate.text_contains), frozenset()))
    return tests


def _text_test(selector: Selector, regex_hits: frozenset[str]) -> Callable[[Node], bool]:
    wanted = selector.text or ""
    folded = wanted.casefold()
    stripped = wanted.strip()
    match selector.match:
        case "equals":
            return lambda node: any(text.strip() == stripped for text in shown_texts(node, selector))
        case "regex":
            return lambda node: any(text in regex_hits for text in texts_of(node))
        case _:
            return lambda node: any(folded in text.casefold() for text in shown_texts(node, selector))


ROWS = frozenset(
    {"row", "tr", "listitem", "li", "treeitem", "option", "article", "list_item", "table_row", "tree_item"}
)
"""Roles and types whose content belongs together."""


def row_above(node: Node) -> Node | None:
    """Return the innermost row that a node is or is in."""
    at: Node | None = node
    while at is not None and not ({role_of(at), str(at.record["t"])} & ROWS):
        at = at.parent
    return at


def _in_rows(
    nodes: Sequence[Node], row: str, tests: Sequence[Callable[[Node], bool]], texts: Sequence[Callable[[Node], bool]]
) -> list[Node]:
    """Return the matches that are in a row with this text, or without conditions these rows themselves."""
    found: list[Node] = []
    for node in nodes:
        parts = list(parts_of(node))
        inside = {part.index for part in parts if row in texts_of(part)}
        if texts and not tests:
            found += [part for part in parts if part.index in inside and all(test(part) for test in texts)]
        elif not tests:
            found += [_row_part(next(part for part in parts if part.index == index)) for index in sorted(inside)]
        around = row_above(node) if not inside else None
        if around is None or not any(row in texts_of(below) for below in around.walk()):
            continue
        conditions = (*tests, *texts)
        if all(test(node) for test in conditions) if conditions else around is node:
            found.append(node)
    return found


def _row_part(cell: Node) -> Node:
    return Node({**cell.record, "u": cell.uid.partition(":c")[0]}, cell.path, cell.parent, cell.index)


def _predicate_tests(predicate: Predicate) -> list[Callable[[Node], bool]]:
    tests: list[Callable[[Node], bool]] = []
    if predicate.type_is is not None:
        types = {name.casefold() for name in predicate.type_is}
        tests.append(lambda node: node.record["t"].casefold() in types)
    if predicate.id_equals is not None:
        tests.append(lambda node: node.record.get("i") == predicate.id_equals)
    if predicate.style_class_has is not None:
        tests.append(lambda node: predicate.style_class_has in node.record.get("c", ()))
    if predicate.visible is not None:
        tests.append(lambda node: is_visible(node) is predicate.visible)
    if predicate.enabled is not None:
        tests.append(lambda node: (not node.record.get("x")) is predicate.enabled)
    return tests


def is_visible(node: Node) -> bool:
    """Return whether neither the node nor one above it is hidden."""
    return node.record.get("v") is not False and node.record.get("w") is not False


SECONDS = 0.1
"""CPU time limit of a search; not wall time, so that a busy machine does not make a pattern fail."""

_START_SECONDS = 10.0

# In a process of its own: `re` holds the GIL and cannot be interrupted, and a pattern may backtrack for ever.
_PROGRAM = """
import sys, json, re, signal
pattern, seconds, texts = json.load(sys.stdin)
found = re.compile(pattern)
hasattr(signal, "setitimer") and signal.setitimer(signal.ITIMER_PROF, seconds)
json.dump([text for text in texts if found.search(text)], sys.stdout)
"""


async def found_in(pattern: str, texts: Sequence[str]) -> frozenset[str]:
    """Return the texts that contain a match of the pattern.

    Raises:
        UiArgumentError: the pattern is invalid, or exceeds the time limit on these texts.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise UiArgumentError(f"Bad regular expression {pattern!r}: {error}") from error
    request = dumps([pattern, SECONDS, sorted(set(texts))]).encode()
    with anyio.move_on_after(_START_SECONDS):
        # Isolated and without site packages, which makes the start fast.
        done = await anyio.run_process([sys.executable, "-I", "-S", "-c", _PROGRAM], input=request, check=False)
        if done.returncode == 0:
            return frozenset(loads(done.stdout))
    raise UiArgumentError(f"The regular expression {pattern!r} takes longer than {SECONDS * 1000:.0f} ms\nSimplify it.")


def _as_selector(value: Json) -> Json:
    return {"text": value} if isinstance(value, str) else value


AnySelector = Annotated[Selector, Before(_as_selector)]


@dataclass(frozen=True, slots=True)
class Expectation(Request):
    """What must be there, within a few seconds."""

    selector: Annotated[AnySelector, "css, text and predicate, or a bare text."]
    text: Annotated[str | None, "Text that one of the matches must contain."] = None
    count: Annotated[int | None, "How many matches there must be; 0 = none. Default: at least one.", Limit(ge=0)] = None

    def holds(self, found: Sequence[Node]) -> bool:
        """Return whether these matches are what was expected; what is hidden does not count."""
        found = [node for node in found if is_visible(node)]
        if self.text is not None:
            wanted = self.text.casefold()
            found = [node for node in found if any(wanted in text.casefold() for text in _all_texts(node))]
        return bool(found) if self.count is None else len(found) == self.count


def _all_texts(node: Node) -> list[str]:
    return [text for part in (node, *parts_of(node)) for text in texts_of(part)]
