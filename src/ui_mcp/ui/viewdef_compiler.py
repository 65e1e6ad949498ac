"""Compiles an HTML template into a table of bindings."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from html.parser import HTMLParser
from json import dumps

from ui_mcp.errors import ViewdefError
from ui_mcp.ui.elements import data_kind, server_attributes

_KEY = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Binding:
    """One bound attribute; its index in `Viewdef.bindings` identifies it in frames."""

    kind: str
    """`value`, `attr`, `class`, `style`, `html`, `code`, `action`, `event`, `keypress`, `view` or `viewlist`.

    For an element with data of its own it is what its contract says it binds, such as `rows`.
    """
    attribute: str
    tag: str
    text: str
    """The attribute's value: PATH[?QUERY]."""
    namespace: str = ""
    """`ui-namespace` of the element or its nearest ancestor that has one."""
    item_namespace: str = ""
    """For lists: `ui-namespace` inside the list element."""
    item_wrapper: str = ""
    """For lists: `ui-item-wrapper`."""
    inline: str = ""
    """For `ui-for` and `ui-if`: the key of the viewdef made from their content."""
    line: int = 0
    """Line of its element in the file."""
    options: str = ""
    """For an element with data: attributes that its contract says the server reads, as JSON; false is a bound one."""


@dataclass(frozen=True, slots=True)
class Viewdef:
    """A compiled template."""

    key: str
    html: str
    """The template as sent to pages: with binding positions added, otherwise unchanged."""
    bindings: tuple[Binding, ...]
    warnings: tuple[str, ...] = ()
    inner: tuple["Viewdef", ...] = ()
    """Made from the content of `ui-for` and `ui-if`."""

    def whole(self) -> Iterator["Viewdef"]:
        """Yield this viewdef and those inside it."""
        yield self
        for viewdef in self.inner:
            yield from viewdef.whole()


def checked_key(type_name: str, namespace: str) -> str:
    """Return the key of a type and namespace.

    Raises:
        ViewdefError: one of them has characters that are not allowed in file names.
    """
    for what, name in (("type", type_name), ("namespace", namespace)):
        if not _KEY.fullmatch(name):
            raise ViewdefError(f"invalid viewdef: {what} {name!r} may only have letters, digits, '_', '.' and '-'")
    return f"{type_name}.{namespace}"


POSITIONS = "data-ui-b"
WRAPPED = "there is no top-level <template>; the content was wrapped in one"

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)

_RAW = frozenset(("textarea", "title", "noscript", "iframe", "xmp"))

_PREFIXES = (
    ("ui-attr-", "attr"),
    ("ui-class-", "class"),
    ("ui-style-", "style"),
    ("ui-event-keypress-", "keypress"),
    ("ui-event-", "event"),
)

_NAMES = {
    "ui-value": "value",
    "ui-html": "html",
    "ui-code": "code",
    "ui-action": "action",
    "ui-view": "view",
    "ui-viewlist": "viewlist",
}

_INLINE = {"ui-for": ("ui-viewlist", "viewlist"), "ui-if": ("ui-view", "view")}
"""Attributes whose content becomes a viewdef of its own, and what stands for them in the delivered template."""

_HOLDERS = frozenset(["table", "thead", "tbody", "tfoot", "tr", "ul", "ol", "dl", "menu", "select", "datalist"])
"""Elements whose children must be rows: a view in their place, or a `div` around each row, would break them."""

Attributes = list[tuple[str, str | None]]


def compile_viewdef(key: str, content: str, line: int = 1) -> Viewdef:
    """Number the bindings of a template, whose first line is `line`, and write their positions into it.

    Raises:
        ViewdefError: there is no element to show, or more than one template.
    """
    reader = _Reader(key, content, line)
    if reader.templates > 1:
        raise ViewdefError("invalid viewdef: more than one <template>")
    bare = reader.templates == 0 or reader.others > 0
    if bare:
        reader = _Reader(key, f"<template>{content}</template>", line)
    if reader.elements == 0:
        raise ViewdefError("invalid viewdef: the template holds no element", key=key)
    warnings = (WRAPPED,) if bare else ()
    return Viewdef(key, reader.with_positions(), tuple(reader.bindings), warnings, tuple(reader.inner))


_CONDITION = re.compile(r"""\sui-if\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
_PATH_PART = re.compile(r"""(?:[^?"']|"[^"]*"|'[^']*')*""")


def split_path(text: str) -> tuple[str, str]:
    """Split PATH?QUERY; a question mark inside quotes belongs to the path."""
    found = _PATH_PART.match(text)
    end = found.end() if found else 0
    return text[:end].strip(), text[end + 1 :]


def bare_list(tag: str, text: str) -> str | None:
    """Return the path of a `ui-view` that shows a list of rows inside an element for rows, or None.

    Presenters (`item`) belong to the wrapped list, so a path that names one is left alone.
    """
    path, query = split_path(text)
    parts = query.split("&")
    names = {part.partition("=")[0] for part in parts}
    if tag not in _HOLDERS or "wrapper=lua.ViewList" not in parts or names & {"item", "itemWrapper"}:
        return None
    rest = "&".join(part for part in parts if part != "wrapper=lua.ViewList")
    return f"{path}?{rest}" if rest else path


def options_of(tag: str, attributes: Mapping[str, str]) -> str:
    """Return what the server reads of an element's attributes as JSON, or ""."""
    names = server_attributes(tag)
    bound = {name: False for name in names if f"ui-attr-{name}" in attributes}
    return dumps({name: attributes[name] for name in names if name in attributes} | bound) if names else ""


def kind_of(attribute: str) -> str | None:
    """Return the kind of binding of an attribute, or None if it binds nothing."""
    if attribute in _NAMES:
        return _NAMES[attribute]
    return next((kind for prefix, kind in _PREFIXES if attribute.startswith(prefix) and attribute != prefix), None)


@dataclass(slots=True)
class _Element:
    tag: str
    namespace: str = ""
    list_at: int | None = None
    """Position of this element's list binding."""
    inline: "_Inline | None" = None


@dataclass(frozen=True, slots=True)
class _Inline:
    """An element with `ui-for` or `ui-if`: where its start tag begins and ends, and the position of its binding."""

    attribute: str
    start: int
    content: int
    position: int


class _Walker(HTMLParser, ABC):
    """Tracks open elements, nested approximately as in a browser."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self._html = html
        self._lines = [0]
        # HTMLParser reports line and column; the text is changed by offset.
        for line in html.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self.open: list[_Element] = []
        try:
            self.feed(html)
            self.close()
        except AssertionError as error:  # Python's parser raises it for a malformed declaration
            raise ViewdefError(f"invalid viewdef: {error}") from error

    @abstractmethod
    def start_element(self, element: _Element, attrs: Attributes) -> None:
        """Handle a start tag; `open` holds its ancestors."""

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if self.open and self.open[-1].tag in _RAW:
            return
        element = _Element(tag)
        self.start_element(element, attrs)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID and any(element.tag in {"svg", "math"} for element in self.open):
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if any(element.tag == tag for element in self.open):
            while self.open.pop().tag != tag:
                pass

    @property
    def tag_start(self) -> int:
        """Offset of the current tag in the text."""
        line, column = self.getpos()
        return self._lines[line - 1] + column


class _Reader(_Walker):
    """Counts the top-level elements; collects the bindings below them and the offsets for their positions."""

    def __init__(self, key: str, html: str, line: int) -> None:
        self._first_line = line
        self.templates = self.others = self.elements = 0
        self.bindings: list[Binding] = []
        self.inner: list[Viewdef] = []
        self._key = key
        self._edits: list[tuple[int, int, str]] = []
        super().__init__(html)
        self._close_inline(self.open, len(html), len(html))

    def with_positions(self) -> str:
        """Return the text with the positions inserted, and without the content of other viewdefs."""
        parts: list[str] = []
        last = 0
        for start, end, text in sorted(self._edits):
            parts += (self._html[last:start], text)
            last = end
        return "".join((*parts, self._html[last:]))

    def handle_endtag(self, tag: str) -> None:
        tags = [element.tag for element in self.open]
        if tag in tags:
            at = len(tags) - 1 - tags[::-1].index(tag)
            closed = self.open[at:]
            self._close_inline(closed[1:], self.tag_start, self.tag_start)
            end = self._html.find(">", self.tag_start) + 1
            self._close_inline(closed[:1], self.tag_start, end or len(self._html))
        super().handle_endtag(tag)

    def start_element(self, element: _Element, attrs: Attributes) -> None:
        if not self.open:
            self.templates += element.tag == "template"
            self.others += element.tag != "template"
            return
        self.elements += 1
        # Reversed: of repeated attributes the first counts, as in browsers.
        found = {name: value or "" for name, value in reversed(attrs)}
        element.namespace = found.get("ui-namespace", "")
        # Elements inside a list element are not bound, because rows have viewdefs of their own.
        inside = next((outer.list_at for outer in reversed(self.open) if outer.list_at is not None), None)
        if inside is not None:
            self._item_namespace(inside, element.namespace)
            return
        if any(outer.inline for outer in self.open):
            return
        inline = next((name for name in ("ui-if", "ui-for") if name in found), None)
        if inline is not None:
            self._bind_inline(element, inline, found)
        if inline == "ui-if":
            return
        names = [name for name, _ in attrs if kind_of(name)]
        rows = bare_list(element.tag, found.get("ui-view", ""))
        if rows is not None:
            self._rename("ui-view", "ui-viewlist")
            names[names.index("ui-view")], found["ui-viewlist"] = "ui-viewlist", rows
        self._bind(element, names, found)

    def _rename(self, attribute: str, other: str) -> None:
        """Name an attribute of the current tag differently in the delivered template."""
        tag = self.get_starttag_text() or ""
        name = re.search(rf"(?<=\s){attribute}(?=\s*=)", tag, re.IGNORECASE)
        if name is not None:
            self._edits.append((self.tag_start + name.start(), self.tag_start + name.end(), other))

    def _bind(self, element: _Element, names: list[str], found: dict[str, str]) -> None:
        namespace = element.namespace or next((outer.namespace for outer in reversed(self.open) if outer.namespace), "")
        positions: list[str] = []
        for name in dict.fromkeys(names):
            kind = (name == "ui-value" and data_kind(element.tag)) or kind_of(name) or ""
            if kind == "viewlist":
                element.list_at = len(self.bindings)
            positions.append(f"{len(self.bindings)} {name}")
            wrapper = found.get("ui-item-wrapper", "") if kind == "viewlist" else ""
            options = options_of(element.tag, found) if name == "ui-value" else ""
            text, line = found[name], self._line
            self.bindings.append(
                Binding(kind, name, element.tag, text, namespace, item_wrapper=wrapper, line=line, options=options)
            )
        if element.inline:
            positions.append(f"{element.inline.position} ui-viewlist")
        if positions:
            self._stamp(self.tag_start + 1 + len(element.tag), ";".join(positions))

    @property
    def _line(self) -> int:
        return self._first_line + self.getpos()[0] - 1

    def _stamp(self, at: int, positions: str) -> None:
        self._edits.append((at, at, f' {POSITIONS}="{positions}"'))

    def _bind_inline(self, element: _Element, attribute: str, found: dict[str, str]) -> None:
        """Bind `ui-for` or `ui-if`; what is inside is compiled when the element ends."""
        start, tag = self.tag_start, self.get_starttag_text() or ""
        position = len(self.bindings)
        bound, kind = _INLINE[attribute]
        key = f"{self._key}.{attribute[3:]}-{position}"
        self.bindings.append(
            Binding(
                kind,
                bound,
                element.tag,
                found[attribute],
                element.namespace,
                element.namespace,
                inline=key,
                line=self._line,
            )
        )
        element.inline = _Inline(attribute, start, start + len(tag), position)
        if attribute == "ui-for":
            name = re.search(r"\bui-for\b", tag, re.IGNORECASE)
            if name is not None:
                self._edits.append((start + name.start(), start + name.end(), bound))
        elif element.tag in _VOID:
            self._close_inline([element], start + len(tag), start + len(tag))

    def _close_inline(self, elements: list[_Element], content_end: int, end: int) -> None:
        for element in elements:
            if element.inline is not None:
                self._cut(element, element.inline, content_end, end)

    def _cut(self, element: _Element, inline: _Inline, content_end: int, end: int) -> None:
        binding = self.bindings[inline.position]
        if inline.attribute == "ui-for":
            body = self._html[inline.content : content_end]
            self._edits.append((inline.content, content_end, ""))
        else:
            body = (
                _CONDITION.sub("", self._html[inline.start : inline.content], count=1)
                + self._html[inline.content : end]
            )
            stamp = f'{POSITIONS}="{inline.position} ui-view"'
            placeholder = f'<{element.tag} {stamp} hidden ui-view="{escape(binding.text)}">'
            closing = "" if element.tag in _VOID else f"</{element.tag}>"
            self._edits.append((inline.start, end, placeholder + closing))
        self.inner.append(compile_viewdef(binding.inline, f"<template>{body}</template>", binding.line))

    def _item_namespace(self, at: int, namespace: str) -> None:
        binding = self.bindings[at]
        if namespace and not binding.item_namespace:
            self.bindings[at] = replace(binding, item_namespace=namespace)
