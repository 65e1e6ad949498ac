"""Reads Lua text well enough to know its prototypes, methods, calls and top-level assignments."""

import re
from dataclasses import dataclass
from functools import cached_property

_QUIET = re.compile(
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
_TABLE_DEFAULT = re.compile(r"(\w+)\s*=\s*\{")
_TOP_CALL = re.compile(r"^[A-Za-z_][\w.]*[ \t]*\(([^()\n]*)\)", re.MULTILINE)
_PARAMETERS = re.compile(r"\bfunction\b[^(\n]*\(([^)\n]*)\)")


@dataclass(frozen=True, slots=True)
class Method:
    """`function OWNER:NAME(` on a line."""

    owner: str
    name: str
    line: int


@dataclass(frozen=True)
class LuaSource:
    """One file; the properties are lists of names with their lines."""

    text: str

    @cached_property
    def code(self) -> str:
        """The text with comments and the insides of strings blanked, line for line."""
        return _QUIET.sub(_blank, self.text)

    @cached_property
    def methods(self) -> list[Method]:
        """Methods defined with a colon."""
        return [Method(found[1], found[2], self.line_of(found.start(1))) for found in _METHOD.finditer(self.code)]

    @cached_property
    def functions(self) -> set[str]:
        """Names of functions stored in fields."""
        return {found[1] or found[2] for found in _FUNCTION_FIELD.finditer(self.code)}

    @cached_property
    def called(self) -> set[str]:
        """Names called with a colon."""
        definitions = {found.start(2) for found in _METHOD.finditer(self.code)}
        return {found[1] for found in _CALL.finditer(self.code) if found.start(1) not in definitions}

    @cached_property
    def unguarded(self) -> list[tuple[str, int]]:
        """Globals given a new instance at the top level of the file, with their lines."""
        return [(found[1], self.line_of(found.start())) for found in _CREATION.finditer(self.code)]

    @cached_property
    def assigned(self) -> set[str]:
        """Names assigned anywhere without `local`."""
        return {found[1] for found in _ASSIGNMENT.finditer(self.code)}

    @cached_property
    def made_elsewhere(self) -> set[str]:
        """Owners whose methods somebody else may call: handed to a top-level function, or a parameter of one."""
        handed = [found[1] for found in _TOP_CALL.finditer(self.code)]
        parameters = [found[1] for found in _PARAMETERS.finditer(self.code)]
        return {name.strip() for names in (*handed, *parameters) for name in names.split(",")}

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
        """Return the line number of an offset."""
        return self.text.count("\n", 0, offset) + 1


def _blank(found: re.Match[str]) -> str:
    text = found[0]
    inside = re.sub(r"[^\n]", " ", text[1:-1])
    return text[0] + inside + text[-1] if text[0] in "\"'" else re.sub(r"[^\n]", " ", text)


def _first_table(code: str, offset: int) -> tuple[int, int]:
    """Return where the first `{…}` of an argument list begins and ends, braces left out."""
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
