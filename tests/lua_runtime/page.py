"""A page without a browser: applies frames and holds what a person would see."""

import json
from dataclasses import dataclass, field
from typing import Any

from ui_mcp.ui.viewdef_store import ViewdefStore

ANSWERS = {"files": "upload", "items": "$added"}
"""By kind of data: what an answer has that no value has."""


@dataclass
class Node:
    """One view on the page."""

    number: int
    key: str
    values: list[Any]
    errors: dict[int, str] = field(default_factory=dict)


@dataclass
class Window:
    """A list of which only some rows are here."""

    length: int
    start: int
    rows: list[Node | None]


class Page:
    """What the frames of one connection add up to."""

    def __init__(self, store: ViewdefStore) -> None:
        self._store = store
        self.views: dict[int, Node] = {}
        self.root: Node | None = None
        self.viewdefs: dict[str, str] = {}
        self.plain: dict[int, Any] = {}
        self.properties: dict[int, dict[str, str]] = {}
        self.errors: list[dict[str, Any]] = []
        self.destroyed: list[int] = []
        self.messages = 0
        self.told: list[dict[str, Any]] = []
        """Answers of an element's data, which are not its value."""

    def apply(self, frame: str) -> None:
        """Take one frame."""
        content = json.loads(frame)
        single = isinstance(content, dict) or isinstance(content[0], int)
        for message in [content] if single else content:
            self.messages += 1
            if isinstance(message, list):
                self._short(*message)
            else:
                getattr(self, "_" + message["type"])(message["data"])

    def tree(self, node: "Node | str | None" = "root") -> Any:
        """The page as nested lists: [key, values, errors]."""
        node = self.root if node == "root" else node
        if not isinstance(node, Node):
            return None
        return [node.key, [self._shown(value) for value in node.values], dict(node.errors)]

    def _shown(self, value: Any) -> Any:
        match value:
            case Node():
                return self.tree(value)
            case Window():
                return [value.length, value.start, [self.tree(row) for row in value.rows]]
            case ["rows", *rows]:
                return ["rows", *(self.tree(row) for row in rows)]
        return value

    def _kinds(self, key: str) -> list[tuple[str, str]]:
        if key.endswith(" (missing)"):  # the engine's own stand-in, without bindings
            return []
        viewdef = self._store.get(key)
        assert viewdef is not None
        return [(binding.kind, binding.text) for binding in viewdef.bindings]

    def _node(self, inline: list[Any] | None, key: str = "") -> Node | None:
        if inline is None:
            return None
        number, given, values = inline
        key = given or key
        assert key in self.viewdefs, f"{key} was not delivered"
        node = Node(number, key, [])
        self.views[number] = node
        kinds = self._kinds(key)
        padded = values + [None] * (len(kinds) - len(values))
        node.values = [self._value(kind, value) for (kind, _), value in zip(kinds, padded, strict=True)]
        return node

    def _value(self, kind: str, value: Any) -> Any:
        if kind == "view":
            return self._node(value)
        if kind == "viewlist" and isinstance(value, dict):
            return Window(value["length"], value["from"], self._rows(value["rows"]))
        if kind == "viewlist" and value is not None:
            return ["rows", *self._rows(value)]
        return value

    def _rows(self, rows: list[Any]) -> list[Node | None]:
        made: list[Node | None] = []
        key = ""
        for row in rows:
            node = self.views[row] if isinstance(row, int) else self._node(row, key)
            made.append(node)
            key = node.key if node and not isinstance(row, int) else key
        return made

    def _short(self, number: int, position: int, value: Any) -> None:
        node = self.views[number]
        kind, text = self._kinds(node.key)[position]
        node.errors.pop(position, None)
        if (kind == "rows" and "rows" not in value) or (kind in ANSWERS and ANSWERS[kind] in value):
            self.told.append(value)
        elif kind == "viewlist" and "window" in text:
            node.values[position] = self._value(kind, value)
        elif kind == "viewlist" and isinstance(value, dict):
            at, removed, added = value["splice"]
            node.values[position][at + 1 : at + 1 + removed] = [None] * added
        elif kind == "viewlist":
            rows = node.values[position] or ["rows"]
            node.values[position] = (rows + [None] * value)[: value + 1]
        else:
            node.values[position] = value

    def _view(self, data: dict[str, Any]) -> None:
        node = self._node([data["view"], data["key"], data["values"]]) if data["key"] else None
        if data["parent"] == 0:
            self.root = node
            return
        parent = self.views[data["parent"]]
        if "index" in data:
            parent.values[data["slot"]][data["index"] + 1] = node
        else:
            parent.values[data["slot"]] = node

    def _update(self, data: dict[str, Any]) -> None:
        number = data["varId"]
        if "value" in data:
            self.plain[number] = data["value"]
        properties = dict(data.get("properties", {}))
        self.viewdefs |= json.loads(properties.pop("viewdefs", "{}"))
        self.properties.setdefault(number, {}).update(properties)

    def _error(self, data: dict[str, Any]) -> None:
        self.errors.append(data)
        if "view" in data:
            self.views[data["view"]].errors[data["pos"]] = data["description"]

    def _destroy(self, data: dict[str, Any]) -> None:
        self.destroyed.append(data["varId"])
