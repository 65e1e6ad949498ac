"""Parses Lua files and templates for the audit."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

from ui_mcp.ui.components import may_be_component
from ui_mcp.ui.elements import unknown
from ui_mcp.ui.viewdef_compiler import split_path

_COMMENT_OR_STRING = re.compile(
    r"--\[(?P<c>=*)\[.*?\](?P=c)\]|--[^\n]*"
    r"|\[(?P<s>=*)\[.*?\](?P=s)\]"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)

_METHOD = re.compile(r"^[ \t]*function[ \t]+([\w.]+):(\w+)[ \t]*\(", re.MULTILINE)

_FUNCTION_FIELD = re.compile(
    r"(?:^|[\s,{;])(?:function[ \t]+[\w.]+\.(\w+)[ \t]*\(|(?:[\w.]+\.)?(\w+)[ \t]*=[ \t]*function\b)", re.MULTILINE
)

_CALL = re.compile(r":\s*(\w+)\s*[({\"'\[]")
_CREATION = re.compile(r"^([A-Za-z_]\w*)[ \t]*=[ \t]*(?:[\w.]+:new|session:create)[ \t]*\(", re.MULTILINE)
_ASSIGNMENT = re.compile(r"(?:^|;|\b(?:then|else|do)\b)[ \t]*([A-Za-z_]\w*)[ \t]*=(?!=)", re.MULTILINE)
_PROTOTYPE = re.compile(r"session:prototype\s*\(")
_DECLARED = re.compile(r"""\s*(?:"([^"\n]+)"|'([^'\n]+)')\s*,""")
_ALIAS = re.compile(r"^[ \t]*[\w.]+\.(\w+)[ \t]*=[ \t]*[A-Za-z_][\w.]*[ \t]*$", re.MULTILINE)
_COMPUTED = re.compile(r"\[([^\[\]\n]+)\][ \t]*=[ \t]*(?:function\b|[A-Za-z_][\w.]*[ \t]*(?:$|\())", re.MULTILINE)
_PIECE = re.compile(r"""^(?:"([^"]*)"|'([^']*)')$""")
_TABLE_DEFAULT = re.compile(r"(\w+)\s*=\s*\{")
_TOP_CALL = re.compile(r"^[A-Za-z_][\w.]*[ \t]*\(([^()\n]*)\)", re.MULTILINE)
_PARAMETERS = re.compile(r"\bfunction\b[^(\n]*\(([^)\n]*)\)")


@dataclass(frozen=True, slots=True)
class Method:
    """A definition `function OWNER:NAME(` and its line."""

    owner: str
    name: str
    line: int


@dataclass(frozen=True)
class LuaSource:
    """One Lua file; its properties are found by pattern, not by a parser."""

    text: str

    @cached_property
    def code(self) -> str:
        """The text with comments and the contents of strings blanked; line numbers stay the same."""
        return _COMMENT_OR_STRING.sub(_blank, self.text)

    @cached_property
    def methods(self) -> list[Method]:
        """Methods defined with a colon."""
        return [Method(found[1], found[2], self.line_of(found.start(1))) for found in _METHOD.finditer(self.code)]

    @cached_property
    def functions(self) -> set[str]:
        """Names of functions stored in fields."""
        fields = {found[1] or found[2] for found in _FUNCTION_FIELD.finditer(self.code)}
        return fields | {found[1] for found in _ALIAS.finditer(self.code)}

    @cached_property
    def computed(self) -> list[re.Pattern[str]]:
        """Patterns of the methods whose names are made while the app runs, as in `T["no" .. name] = function`."""
        found = [self.text[one.start(1) : one.end(1)] for one in _COMPUTED.finditer(self.code)]
        return [_name_pattern(text) for text in found if not text.strip().isdigit()]

    @cached_property
    def called(self) -> set[str]:
        """Names called with a colon."""
        definitions = {found.start(2) for found in _METHOD.finditer(self.code)}
        return {found[1] for found in _CALL.finditer(self.code) if found.start(1) not in definitions}

    @cached_property
    def unguarded(self) -> list[tuple[str, int]]:
        """Globals that get a new instance at the top level of the file, with their lines."""
        return [(found[1], self.line_of(found.start())) for found in _CREATION.finditer(self.code)]

    @cached_property
    def assigned(self) -> set[str]:
        """Names assigned anywhere without `local`."""
        return {found[1] for found in _ASSIGNMENT.finditer(self.code)}

    @cached_property
    def made_elsewhere(self) -> set[str]:
        """Owners whose methods other code may call: passed to a top-level function, or a parameter."""
        passed = [found[1] for found in _TOP_CALL.finditer(self.code)]
        parameters = [found[1] for found in _PARAMETERS.finditer(self.code)]
        return {name.strip() for names in (*passed, *parameters) for name in names.split(",")}

    @cached_property
    def types(self) -> list[tuple[str, int]]:
        """Names of the prototypes that the file declares, with their lines."""
        found = [(call, _DECLARED.match(self.text, call.end())) for call in _PROTOTYPE.finditer(self.code)]
        return [(name[1] or name[2], self.line_of(call.start())) for call, name in found if name]

    @cached_property
    def table_defaults(self) -> list[tuple[str, int]]:
        """Fields whose prototype default is a table, which all instances share."""
        found = []
        for prototype in _PROTOTYPE.finditer(self.code):
            start, end = _first_table(self.code, prototype.end())
            inner = self.code[start:end]
            found += [
                (field[1], self.line_of(start + field.start()))
                for field in _TABLE_DEFAULT.finditer(inner)
                if inner.count("{", 0, field.start()) == inner.count("}", 0, field.start())
            ]
        return found

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1


def _name_pattern(expression: str) -> re.Pattern[str]:
    pieces = [_PIECE.match(piece.strip()) for piece in expression.split("..")]
    return re.compile("".join(re.escape(piece[1] or piece[2] or "") if piece else r"\w+" for piece in pieces))


def _blank(found: re.Match[str]) -> str:
    text = found[0]
    inside = re.sub(r"[^\n]", " ", text[1:-1])
    return text[0] + inside + text[-1] if text[0] in "\"'" else re.sub(r"[^\n]", " ", text)


def _first_table(code: str, offset: int) -> tuple[int, int]:
    """Return the offsets between the braces of the first table in an argument list."""
    opening = code.find("{", offset)
    closing = code.find(")", offset)
    if opening < 0 or 0 <= closing < opening:
        return offset, offset
    depth = 0
    for position in range(opening, len(code)):
        depth += (code[position] == "{") - (code[position] == "}")
        if depth == 0:
            return opening + 1, position
    return opening + 1, len(code)


_FOREIGN = frozenset({"svg", "math"})

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)

_OPTIONAL_END = frozenset(["li", "p", "td", "th", "tr", "tbody", "thead", "tfoot", "option", "dt", "dd", "colgroup"])


@dataclass(frozen=True, slots=True)
class Binding:
    """A `ui-…` attribute of an element."""

    tag: str
    attribute: str
    text: str
    attributes: dict[str, str] = field(hash=False)

    @property
    def path(self) -> str:
        """The path without its query."""
        return split_path(self.text)[0]


class Template(HTMLParser):
    """Collects the bindings of one viewdef in document order, its tags, and errors in its nesting."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = text
        self.bindings: list[Binding] = []
        self.tags: set[str] = set()
        self.unknown: list[str] = []
        """Elements and attributes that are named like ours, but are none."""
        self.given: list[str] = []
        """What components get in their attributes, which may be paths."""
        self.problems: list[str] = []
        self._open: list[tuple[str, int]] = []
        try:
            self.feed(text)
            self.close()
        except AssertionError as error:  # Python's parser raises it for a malformed declaration
            self.problems.append(str(error))
        self.problems += [f"<{tag}> of line {line} is never closed" for tag, line in self._open if _must_close(tag)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._record(tag, attrs)
        if tag not in _VOID:
            self._open.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element; `<x/>` stays open in HTML, unless it is void or inside SVG or MathML."""
        self._record(tag, attrs)
        foreign = tag in _FOREIGN or any(name in _FOREIGN for name, _ in self._open)
        if tag not in _VOID and not foreign:
            self.problems.append(f"<{tag}/> of line {self.getpos()[0]} does not close itself in HTML")

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those inside it whose end tag is optional."""
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

    def _record(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.unknown += unknown(tag, [name for name, _ in attrs], [name for name, _ in self._open])
        attributes = {name: value or "" for name, value in attrs}
        if may_be_component(tag):
            self.given += attributes.values()
        self.bindings += [
            Binding(tag, name, value, attributes) for name, value in attributes.items() if name.startswith("ui-")
        ]


def _must_close(tag: str) -> bool:
    return tag not in _OPTIONAL_END
