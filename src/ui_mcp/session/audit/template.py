"""Reads a viewdef for an audit: its bindings, and tags that do not match."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_FOREIGN = frozenset({"svg", "math"})
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_OPTIONAL_END = frozenset(["li", "p", "td", "th", "tr", "tbody", "thead", "tfoot", "option", "dt", "dd", "colgroup"])


@dataclass(frozen=True, slots=True)
class Binding:
    """A `ui-…` attribute on an element."""

    tag: str
    attribute: str
    text: str
    attributes: dict[str, str] = field(hash=False)

    @property
    def path(self) -> str:
        """The path without its query."""
        return self.text.partition("?")[0].strip()


class Template(HTMLParser):
    """The bindings of one viewdef in document order, its tags, and what is wrong with its nesting."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.bindings: list[Binding] = []
        self.tags: set[str] = set()
        self.problems: list[str] = []
        self._open: list[tuple[str, int]] = []
        try:
            self.feed(text)
            self.close()
        except AssertionError as error:  # how Python's parser says that a declaration is malformed
            self.problems.append(str(error))
        self.problems += [f"<{tag}> of line {line} is never closed" for tag, line in self._open if _must_close(tag)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self._note(tag, attrs)
        if tag not in _VOID:
            self._open.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element; `<x/>` stays open in HTML unless it is void, or a part of a drawing or a formula."""
        self._note(tag, attrs)
        foreign = tag in _FOREIGN or any(name in _FOREIGN for name, _ in self._open)
        if tag not in _VOID and not foreign:
            self.problems.append(f"<{tag}/> of line {self.getpos()[0]} does not close itself in HTML")

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those inside it that may end by themselves."""
        line = self.getpos()[0]
        names = [name for name, _ in self._open]
        if tag in _VOID or tag not in names:
            self.problems.append(f"</{tag}> in line {line} closes nothing")
            return
        at = len(names) - 1 - names[::-1].index(tag)
        self.problems += [
            f"</{tag}> in line {line} comes before </{name}> of line {opened}"
            for name, opened in self._open[at + 1 :]
            if _must_close(name)
        ]
        del self._open[at:]

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        attributes = {name: value or "" for name, value in attrs}
        self.bindings += [
            Binding(tag, name, value, attributes) for name, value in attributes.items() if name.startswith("ui-")
        ]


def _must_close(tag: str) -> bool:
    return tag not in _OPTIONAL_END
