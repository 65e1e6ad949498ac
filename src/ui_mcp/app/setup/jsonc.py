"""Edits JSON with comments (JSONC) as text: one value changes, every other byte stays."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json, JsonObject

_SPACE = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null', re.DOTALL)
MAX_DEPTH = 100


@dataclass(slots=True)
class _Value:
    """One value and where it is in the text; `members` of an object, in order."""

    start: int
    end: int
    data: Json
    members: "list[_Member] | None" = None


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    start: int
    value: _Value


def parse(text: str) -> Json:
    """Return what a text with comments and trailing commas means; an empty one means an empty object.

    Raises:
        ConfigError: it is not JSON.
    """
    return _parsed(text).data


def edited(text: str, path: Sequence[str], value: Json | None) -> str:
    """Return the text with the value at `path` replaced or added; None removes it.

    Raises:
        ConfigError: the text is not JSON, or there is something else than an object on the way.
    """
    if not _SPACE.sub("", text):
        if value is None:
            return text
        text = f"{text}{{}}\n"
    return _changed(text, _parsed(text), path, value, depth=1)


def _changed(text: str, parent: _Value, path: Sequence[str], value: Json | None, *, depth: int) -> str:
    if parent.members is None:
        raise ConfigError(
            f"expected an object that holds {path[0]!r}, but found {text[parent.start : parent.end][:40]}"
        )
    found = next((member for member in reversed(parent.members) if member.name == path[0]), None)
    if found is None:
        return text if value is None else _added(text, parent, path, value, depth)
    if len(path) > 1:
        return _changed(text, found.value, path[1:], value, depth=depth + 1)
    if value is None:
        return _without(text, parent, found)
    if found.value.data == value:
        return text
    return text[: found.value.start] + _written(text, value, depth) + text[found.value.end :]


def _added(text: str, parent: _Value, path: Sequence[str], value: Json, depth: int) -> str:
    for name in reversed(path[1:]):
        value = {name: value}
    assert parent.members is not None
    unit, newline = _indent(text), "\r\n" if "\r\n" in text else "\n"
    member = f"{newline}{unit * depth}{json.dumps(path[0], ensure_ascii=False)}: {_written(text, value, depth)}"
    if parent.members:
        at = parent.members[-1].value.end
        return f"{text[:at]},{member}{text[at:]}"
    at = parent.start + 1
    # What is in an empty object can only be comments, which stay above the new member.
    inside = text[at : parent.end - 1].rstrip()
    return f"{text[:at]}{inside}{member}{newline}{unit * (depth - 1)}{text[parent.end - 1 :]}"


def _without(text: str, parent: _Value, gone: _Member) -> str:
    assert parent.members is not None
    place = next(number for number, member in enumerate(parent.members) if member is gone)
    start, end = gone.start, gone.value.end
    if place > 0:
        # With the comma before it, and not the comments between that and it.
        before = parent.members[place - 1].value.end
        comma = before + _gap(text, before)
        return text[:comma] + text[comma + 1 : start].rstrip(" \t") + text[end:]
    comma = end + _gap(text, end)
    if comma < len(text) and text[comma] == ",":
        return text[:start].rstrip(" \t") + text[end:comma] + text[comma + 1 :]
    return text[:start].rstrip(" \t") + text[end:]


def _gap(text: str, at: int) -> int:
    return len(_match(_SPACE, text, at))


def _written(text: str, value: Json, depth: int) -> str:
    unit, newline = _indent(text), "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=unit, ensure_ascii=False).splitlines()
    return f"{newline}{unit * depth}".join(lines)


def _indent(text: str) -> str:
    """Return the unit of indentation that the text uses, by default two spaces."""
    found = re.search(r"^([ \t]+)[\"}\]]", text, re.MULTILINE)
    return found[1] if found else "  "


def _match(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""


def _parsed(text: str) -> _Value:
    if not _SPACE.sub("", text):
        return _Value(0, len(text), {}, [])
    value = _Reader(text).value(_gap(text, 0), 0)
    rest = value.end + _gap(text, value.end)
    if rest != len(text):
        raise _unexpected(text, rest)
    return value


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str

    def value(self, at: int, depth: int) -> _Value:
        if depth > MAX_DEPTH:
            raise ConfigError("it is nested too deeply")
        match self.text[at : at + 1]:
            case "{":
                return self._object(at, depth)
            case "[":
                return self._array(at, depth)
        scalar = _match(_SCALAR, self.text, at)
        try:
            return _Value(at, at + len(scalar), json.loads(scalar, strict=False))
        except ValueError as error:
            raise _unexpected(self.text, at) from error

    def _object(self, start: int, depth: int) -> _Value:
        members: list[_Member] = []
        at = start + 1 + _gap(self.text, start + 1)
        while self.text[at : at + 1] != "}":
            name = self.value(at, depth + 1)
            colon = name.end + _gap(self.text, name.end)
            if not isinstance(name.data, str) or self.text[colon : colon + 1] != ":":
                raise _unexpected(self.text, at)
            member = _Member(name.data, at, self.value(colon + 1 + _gap(self.text, colon + 1), depth + 1))
            members.append(member)
            at = self._next(member.value.end, "}")
        data: JsonObject = {member.name: member.value.data for member in members}
        return _Value(start, at + 1, data, members)

    def _array(self, start: int, depth: int) -> _Value:
        items: list[Json] = []
        at = start + 1 + _gap(self.text, start + 1)
        while self.text[at : at + 1] != "]":
            item = self.value(at, depth + 1)
            items.append(item.data)
            at = self._next(item.end, "]")
        return _Value(start, at + 1, items)

    def _next(self, end: int, closing: str) -> int:
        """Return where the next entry, or the closing bracket, begins."""
        at = end + _gap(self.text, end)
        if self.text[at : at + 1] == ",":
            return at + 1 + _gap(self.text, at + 1)
        if self.text[at : at + 1] != closing:
            raise _unexpected(self.text, at)
        return at


def _unexpected(text: str, at: int) -> ConfigError:
    line = text.count("\n", 0, at) + 1
    found = repr(text[at : at + 20]) if at < len(text) else "the end of the file"
    return ConfigError(f"it is not JSON: unexpected {found} in line {line}")
