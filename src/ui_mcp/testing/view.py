"""What a page shows: views with their values, nested views and rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ui_mcp.jsontypes import Json
from ui_mcp.testing.template import Binding, Element, Template

NESTED = frozenset({"ui-view", "ui-viewlist"})
ACTIONS = ("ui-action", "ui-event-")


class NotShownError(AssertionError):
    """The page shows nothing of that path; the message lists what it does show."""


@dataclass(slots=True, eq=False)
class View:
    """One rendering of a viewdef for one object; paths are those written in the viewdef."""

    number: int
    key: str
    template: Template
    values: dict[int, Json] = field(default_factory=dict)
    nested: dict[int, "View | None"] = field(default_factory=dict)
    lists: dict[int, list["View | None"]] = field(default_factory=dict)
    errors: dict[int, Json] = field(default_factory=dict)

    def value(self, path: str) -> Json:
        """Return the value shown at `path`."""
        return self.values.get(self.binding(path, actions=False).position)

    def view(self, path: str) -> "View":
        """Return the view that `ui-view="path"` shows."""
        nested = self.nested.get(self.binding(path, kinds=("ui-view",)).position)
        if nested is None:
            raise NotShownError(f"{self.key}: {path} shows nothing")
        return nested

    def rows(self, path: str) -> list["View"]:
        """Return the rows of a list, whether bound by `ui-viewlist` or through `wrapper=lua.ViewList`."""
        binding = self.binding(path, kinds=("ui-viewlist", "ui-view"))
        if binding.attribute == "ui-viewlist":
            return [row for row in self.lists.get(binding.position, []) if row is not None]
        wrapped = self.nested.get(binding.position)
        if wrapped is None:
            return []
        return [row.view("item") if row.key.startswith("lua.ViewListItem.") else row for row in wrapped.rows("items")]

    def error(self, path: str) -> str | None:
        """Return what is wrong at `path`, if something is."""
        found = self.errors.get(self.binding(path).position)
        return found["description"] if found else None

    def binding(self, path: str, *, kinds: tuple[str, ...] = (), actions: bool = True) -> Binding:
        """Find the binding of a path in this view.

        Raises:
            NotShownError: this view has none.
        """
        for binding in self.template.bindings.values():
            fits = not kinds or binding.attribute in kinds
            if binding.path == path and fits and (actions or not binding.attribute.startswith(ACTIONS)):
                return binding
        shown = ", ".join(sorted({binding.path for binding in self.template.bindings.values()}))
        raise NotShownError(f"{self.key} binds nothing to {path!r}; it binds: {shown}")

    def has(self, path: str) -> bool:
        """Say whether this view binds something to `path`."""
        return any(binding.path == path for binding in self.template.bindings.values())

    def below(self) -> Iterator["View"]:
        """Yield this view and every view inside it, in document order."""
        yield self
        for position in sorted(self.template.bindings):
            inside = [self.nested.get(position), *self.lists.get(position, [])]
            for view in inside:
                if view is not None:
                    yield from view.below()

    @property
    def text(self) -> str:
        """The text a person would read, hidden elements left out, white space collapsed."""
        return " ".join("".join(self._texts(self.template.root)).split())

    def _texts(self, element: Element) -> Iterator[str]:
        for child in element.children:
            if isinstance(child, str):
                yield child
            elif not self._hidden(child):
                yield " "
                yield from self._inside(child)
                yield " "

    def _inside(self, element: Element) -> Iterator[str]:
        bound = {binding.attribute: binding.position for binding in element.bindings}
        if "ui-view" in bound:
            nested = self.nested.get(bound["ui-view"])
            yield nested.text if nested else ""
        elif "ui-viewlist" in bound:
            yield " ".join(row.text for row in self.lists.get(bound["ui-viewlist"], []) if row)
        elif "ui-value" in bound or "ui-html" in bound:
            yield shown_text(self.values.get(bound.get("ui-value", bound.get("ui-html", -1))))
            yield from self._texts(element) if element.tag.startswith("sl-") else ()
        else:
            yield from self._texts(element)

    def _hidden(self, element: Element) -> bool:
        classes = {binding.attribute: self.values.get(binding.position) for binding in element.bindings}
        return bool(classes.get("ui-class-hidden")) or element.tag in {"script", "style"}


def shown_text(value: Json) -> str:
    """Write a value the way a page does."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case _:
            return str(value)
