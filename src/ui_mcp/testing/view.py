"""Parsed templates and the views that a page shows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl

from ui_mcp.jsontypes import Json
from ui_mcp.ui.viewdef_compiler import split_path

_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)

POSITIONS = "data-ui-b"


@dataclass(frozen=True, slots=True)
class Binding:
    """One `ui-…` attribute with the position that the server assigned."""

    position: int
    attribute: str
    path: str
    query: dict[str, str] = field(hash=False)
    tag: str


@dataclass(slots=True)
class Element:
    """An element of a template."""

    tag: str
    attributes: dict[str, str]
    bindings: list[Binding] = field(default_factory=list)
    children: list["Element | str"] = field(default_factory=list)

    def walk(self) -> Iterator["Element"]:
        """Yield this element and those below it, in document order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()


class Template(HTMLParser):
    """One viewdef; `root` is the content of its `<template>`."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("template", {})
        self._open = [self.root]
        self.feed(html)
        self.close()
        self.root = next((child for child in self.root.children if isinstance(child, Element)), self.root)
        self.bindings = {binding.position: binding for element in self.root.walk() for binding in element.bindings}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        element.bindings = _bindings(element)
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close the nearest open element of that name."""
        # Elements that were left open inside it are closed too.
        for depth in range(len(self._open) - 1, 0, -1):
            if self._open[depth].tag == tag:
                del self._open[depth:]
                return

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


def _bindings(element: Element) -> list[Binding]:
    found = []
    for assigned in filter(None, element.attributes.get(POSITIONS, "").split(";")):
        position, _, attribute = assigned.partition(" ")
        path, query = split_path(element.attributes.get(attribute, ""))
        options = dict(parse_qsl(query, keep_blank_values=True))
        found.append(Binding(int(position), attribute, path, options, element.tag))
    return found


ACTIONS = ("ui-action", "ui-event-")


class NotShownError(AssertionError):
    """Nothing shown is bound to that path; the message lists the paths that are."""


@dataclass(slots=True, eq=False)
class View:
    """One rendering of a viewdef for one object; paths are written as in the viewdef."""

    number: int
    key: str
    template: Template
    values: dict[int, Json] = field(default_factory=dict)
    nested: dict[int, "View | None"] = field(default_factory=dict)
    lists: dict[int, list["View | None"]] = field(default_factory=dict)
    errors: dict[int, Json] = field(default_factory=dict)

    def value(self, path: str) -> Json:
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
        """Return the description of the error at `path`, or None."""
        found = self.errors.get(self.binding(path).position)
        return found["description"] if found else None

    def binding(self, path: str, *, kinds: tuple[str, ...] = (), actions: bool = True) -> Binding:
        """Return the binding of a path in this view.

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
        """Return whether this view binds something to `path`."""
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
        """The visible text, without hidden elements and with white space collapsed."""
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
    """Format a value as the page does."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case _:
            return str(value)
