"""Components: templates with parameters and slots, put into the viewdefs that use their tags.

`viewdefs/stat-tile.component.html` is what `<stat-tile label="Sold">…</stat-tile>` stands for. It is expanded before
the viewdef is compiled, so its paths start at the same object as those around it, and it costs nothing at run time.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from html.parser import HTMLParser

from ui_mcp.errors import ViewdefError

MAX_DEPTH = 20
_SUFFIX = ".component"
_TAG = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_RESERVED = ("ui-", "sl-")
_PARAMETER = re.compile(r"\{([a-z][a-z0-9-]*)\}")
_VERBATIM = re.compile(r"(<(script|style|pre|textarea)\b.*?</\2\s*>)", re.DOTALL | re.IGNORECASE)
_CODE = re.compile(r"(<(script|style)\b.*?</\2\s*>)", re.DOTALL | re.IGNORECASE)
_PASSED = re.compile(r"(?:ui|aria|data)-.+|class|style|id|slot|hidden|title|role|lang|dir|tabindex")
"""Attributes that go to the component's first element."""
_SEPARATORS = {"class": " ", "style": "; "}
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)

Attributes = list[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Component:
    """A component's template without its outer tag, and its parameters with their defaults."""

    tag: str
    parameters: dict[str, str]
    body: str


Find = Callable[[str], Component | None]
"""Returns the component of a tag."""


def component_tag(key: str) -> str | None:
    """Return the tag of the component with this viewdef key, or None if it is the key of a viewdef."""
    tag = key.removesuffix(_SUFFIX).rpartition(".")[2]
    return tag if key.endswith(_SUFFIX) and may_be_component(tag) else None


def may_be_component(tag: str) -> bool:
    """Return whether a component may have this tag; `ui-` and `sl-` are of elements."""
    return bool(_TAG.fullmatch(tag)) and not tag.startswith(_RESERVED)


def component_key(tag: str, app: str | None = None) -> str:
    """Return the viewdef key of a component, or of the one that an app has beside others of its name."""
    return f"{app}.{tag}{_SUFFIX}" if app else f"{tag}{_SUFFIX}"


def read_component(tag: str, content: str) -> Component:
    """Read a component's file: one `<template>`, whose attributes are the parameters.

    Raises:
        ViewdefError: it has no template, or nothing in it.
    """
    outer = next((one for one in _Elements(content).found if one.tag == "template"), None)
    body = content[outer.content : outer.content_end] if outer else ""
    if outer is None or not _Elements(body).found:
        raise ViewdefError(f"invalid component: {tag} needs a <template> with an element in it", key=tag)
    return Component(tag, {name: value or "" for name, value in outer.attributes}, body)


def custom_tags(html: str) -> frozenset[str]:
    """Return the tags in a template that may be those of components."""
    return frozenset(filter(may_be_component, re.findall(r"<([a-z][a-z0-9-]*)", html)))


def expand(html: str, find: Find, depth: int = 0) -> str:
    """Return a template with its components put in; lines keep their numbers.

    Raises:
        ViewdefError: a component is given what it does not know, or contains itself.
    """
    uses = _outermost([one for one in _Elements(html).found if find(one.tag)])
    if uses and depth >= MAX_DEPTH:
        raise ViewdefError(f"invalid viewdef: <{uses[0].tag}> contains itself, or is nested more than {MAX_DEPTH} deep")
    parts: list[str] = []
    last = 0
    for use in uses:
        component = find(use.tag)
        if component is None:
            continue
        skipped = "\n" * html.count("\n", use.start, use.content)
        parts += (html[last : use.start], skipped, expand(_filled(component, use, html), find, depth + 1))
        last = use.end
    return "".join((*parts, html[last:]))


@dataclass(slots=True)
class _Element:
    """Where an element begins and ends in the text; of those that are never closed, content and end are the text's."""

    tag: str
    attributes: Attributes
    start: int
    content: int
    depth: int
    content_end: int = -1
    end: int = -1


class _Elements(HTMLParser):
    """Finds all elements of a text with their offsets, in document order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[_Element] = []
        self._open: list[_Element] = []
        self._lines = [0]
        for line in html.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self._html = html
        try:
            self.feed(html)
            self.close()
        except AssertionError as error:  # Python's parser raises it for a malformed declaration
            raise ViewdefError(f"invalid viewdef: {error}") from error
        for one in self._open:
            one.content_end = one.end = len(html)

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        start = self._offset
        one = _Element(tag, attrs, start, start + len(self.get_starttag_text() or ""), len(self._open))
        self.found.append(one)
        if tag in _VOID:
            one.content_end = one.end = one.content
        else:
            self._open.append(one)

    def handle_endtag(self, tag: str) -> None:
        if not any(one.tag == tag for one in self._open):
            return
        start = self._offset
        end = self._html.find(">", start) + 1 or len(self._html)
        while True:
            one = self._open.pop()
            closes = one.tag == tag
            one.content_end, one.end = start, end if closes else start
            if closes:
                return

    @property
    def _offset(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column


def _outermost(elements: list[_Element]) -> list[_Element]:
    """Leave out elements inside others; the text that replaces an element is searched again."""
    chosen: list[_Element] = []
    for one in elements:
        if not chosen or one.start >= chosen[-1].end:
            chosen.append(one)
    return chosen


def _filled(component: Component, use: _Element, html: str) -> str:
    """Return a component's text for one use: parameters replaced, its slots filled, attributes passed on."""
    given = {name: value or "" for name, value in use.attributes}
    passed = {name: value for name, value in given.items() if name not in component.parameters}
    for name in passed:
        if not _PASSED.fullmatch(name):
            raise ViewdefError(_unknown_parameter(component, name))
    values = component.parameters | {name: value for name, value in given.items() if name in component.parameters}
    body = _with_values(_on_one_line(component.body), values)
    return _with_slots(_with_attributes(body, passed), html[use.content : use.content_end])


def _unknown_parameter(component: Component, name: str) -> str:
    close = get_close_matches(name, component.parameters, n=1)
    known = ", ".join(component.parameters) or "none"
    meant = f"did you mean {close[0]}?" if close else f"parameters: {known}"
    return f"invalid viewdef: <{component.tag}> has no parameter {name!r}; {meant}"


def _on_one_line(body: str) -> str:
    """Join the lines of a component, so that what follows it keeps its line numbers."""
    parts = _VERBATIM.split(body.strip())
    return "".join(
        re.sub(r"\s*\n\s*", " ", part) if at % 3 == 0 else part for at, part in enumerate(parts) if at % 3 < 2
    )


def _with_values(body: str, values: dict[str, str]) -> str:
    """Replace `{name}` outside scripts and styles."""

    def value(found: re.Match[str]) -> str:
        return escape(values[found[1]]) if found[1] in values else found[0]

    parts = _CODE.split(body)
    return "".join(_PARAMETER.sub(value, part) if at % 3 == 0 else part for at, part in enumerate(parts) if at % 3 < 2)


def _with_attributes(body: str, passed: dict[str, str]) -> str:
    """Give the first element further attributes; classes and styles are added to its own."""
    if not passed:
        return body
    root = next(one for one in _Elements(body).found if one.tag not in {"script", "style"})
    own = {name: value or "" for name, value in root.attributes}
    joined = {
        name: _SEPARATORS[name].join((own[name], value)) if name in own and name in _SEPARATORS else value
        for name, value in passed.items()
    }
    tag = "".join((f"<{root.tag}", *(f' {name}="{escape(value)}"' for name, value in {**own, **joined}.items()), ">"))
    return body[: root.start] + tag + body[root.content :]


def _with_slots(body: str, content: str) -> str:
    """Replace every `<slot>` by what was given for it, or by its own content."""
    slots = _outermost([one for one in _Elements(body).found if one.tag == "slot"])
    given = _given_to_slots(content, {dict(slot.attributes).get("name") or "" for slot in slots})
    parts: list[str] = []
    last = 0
    for slot in slots:
        default = body[slot.content : slot.content_end]
        parts += (body[last : slot.start], given.get(dict(slot.attributes).get("name") or "", default))
        last = slot.end
    return "".join((*parts, body[last:]))


def _given_to_slots(content: str, names: set[str]) -> dict[str, str]:
    """Return the content for each slot: elements with `slot="NAME"` are for that one, the rest for the unnamed."""
    given: dict[str, str] = {}
    rest, last = "", 0
    for one in [one for one in _Elements(content).found if one.depth == 0]:
        name = dict(one.attributes).get("slot") or ""
        if name and name in names:
            rest, last = rest + content[last : one.start], one.end
            tag = re.sub(r"""\sslot\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)""", "", content[one.start : one.content], count=1)
            given[name] = given.get(name, "") + tag + content[one.content : one.end]
    rest += content[last:]
    return {**given, "": rest} if rest.strip() else given
