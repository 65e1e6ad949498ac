"""State of a page: applies the server's frames to views, variables and notices."""

from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.testing.view import Template, View


class Page:
    """Everything that the server has sent to one connection."""

    def __init__(self) -> None:
        self.root: View | None = None
        self.views: dict[int, View] = {}
        self.variables: dict[int, JsonObject] = {}
        """Variables outside views: id → `value` and properties."""
        self.errors: list[JsonObject] = []
        self.notices: list[JsonObject] = []
        self.frames: list[str] = []
        """Every frame as received."""
        self.viewdefs: dict[str, Template] = {}

    def apply(self, frame: str) -> None:
        self.frames.append(frame)
        content = loads(frame)
        # A frame holds one message or a list of them, and the update of a binding is itself a list.
        single = isinstance(content, dict) or (content and not isinstance(content[0], dict | list))
        for message in [content] if single else content:
            self._apply(message)

    def _apply(self, message: Json) -> None:
        match message:
            case [int(number), int(position), value]:
                self._set(self.views[number], position, value)
            case {"type": "view", "data": data}:
                self._put(data)
            case {"type": "update", "data": data}:
                self._update(data)
            case {"type": "error", "data": data}:
                self._fail(data)
            case {"type": "destroy", "data": data}:
                self.variables.pop(data["varId"], None)
            case _:
                raise AssertionError(f"The server sent something unknown: {message!r}")

    def _update(self, data: JsonObject) -> None:
        properties = dict(data.get("properties") or {})
        for key, html in loads(properties.pop("viewdefs", "{}")).items():
            self.viewdefs[key] = Template(html)
        if "notice" in properties:
            self.notices.append(loads(properties.pop("notice")))
        variable = self.variables.setdefault(data["varId"], {})
        if "value" in data:
            variable["value"] = data["value"]
            variable.pop("error", None)
        variable.update(properties)

    def _fail(self, data: JsonObject) -> None:
        self.errors.append(data)
        if "view" in data:
            self.views[data["view"]].errors[data["pos"]] = data
        elif data.get("varId") in self.variables:
            self.variables[data["varId"]]["error"] = data

    def _put(self, data: JsonObject) -> None:
        view = self._view(data["view"], data["key"], data.get("values", [])) if data["key"] else None
        parent, slot = data["parent"], data["slot"]
        if parent == 0:
            self.root = view
        elif "index" in data:
            rows = self.views[parent].lists.setdefault(slot, [])
            rows.extend([None] * (data["index"] + 1 - len(rows)))
            rows[data["index"]] = view
        else:
            self.views[parent].nested[slot] = view
        self._drop_hidden_views()

    def _view(self, number: int, key: str, values: list[Json]) -> View:
        assert key in self.viewdefs, f"viewdef {key} was never delivered"
        view = self.views[number] = View(number, key, self.viewdefs[key])
        for position, value in enumerate(values):
            self._set(view, position, value)
        return view

    def _set(self, view: View, position: int, value: Json) -> None:
        view.errors.pop(position, None)
        match view.template.bindings[position].attribute, value:
            case "ui-view", [int(number), str(key), list(values)]:
                view.nested[position] = self._view(number, key, values)
            case "ui-view", _:
                view.nested[position] = None
            case "ui-viewlist", int(length):
                rows = view.lists.setdefault(position, [])
                del rows[length:]
                rows.extend([None] * (length - len(rows)))
            case "ui-viewlist", list(rows):
                view.lists[position] = self._rows(rows)
            case "ui-viewlist", {"length": _, "rows": list(rows)}:
                view.lists[position] = self._rows(rows)
                view.values[position] = value
            case "ui-viewlist", _:
                view.lists[position] = []
            case _:
                view.values[position] = value

    def _rows(self, rows: list[Json]) -> list[View | None]:
        found: list[View | None] = []
        last = ""
        for row in rows:
            if isinstance(row, int):
                found.append(self.views[row])
            elif row is None:
                found.append(None)
            else:
                number, key, values = row
                last = key or last
                found.append(self._view(number, last, values))
        return found

    def _drop_hidden_views(self) -> None:
        shown = {view.number for view in self.root.below()} if self.root else set()
        self.views = {number: view for number, view in self.views.items() if number in shown}
