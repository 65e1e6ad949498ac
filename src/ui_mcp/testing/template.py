"""A delivered viewdef, read the way a page reads it: elements, text, and the numbered bindings on them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl

_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
STAMP = "data-ui-b"


@dataclass(frozen=True, slots=True)
class Binding:
    """One `ui-…` attribute with the position the server gave it."""

    position: int
    attribute: str
    path: str
    query: dict[str, str] = field(hash=False)
    tag: str


@dataclass(slots=True)
class Element:
    """A node of a template."""

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
    """One viewdef: `root` holds what is inside its `<template>`."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("template", {})
        self._open = [self.root]
        self.feed(html)
        self.close()
        self.root = next((child for child in self.root.children if isinstance(child, Element)), self.root)
        self.bindings = {binding.position: binding for element in self.root.walk() for binding in element.bindings}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element."""
        element = Element(tag, {name: value or "" for name, value in attrs})
        element.bindings = _stamped(element)
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close the nearest element of that name."""
        for depth in range(len(self._open) - 1, 0, -1):
            if self._open[depth].tag == tag:
                del self._open[depth:]
                return

    def handle_data(self, data: str) -> None:
        """Add text."""
        self._open[-1].children.append(data)


def _stamped(element: Element) -> list[Binding]:
    found = []
    for stamp in filter(None, element.attributes.get(STAMP, "").split(";")):
        position, _, attribute = stamp.partition(" ")
        path, _, query = element.attributes.get(attribute, "").partition("?")
        options = dict(parse_qsl(query, keep_blank_values=True))
        found.append(Binding(int(position), attribute, path.strip(), options, element.tag))
    return found
