"""Reads YAML 1.2 into plain values, with notes about oddities, and finds the line of a value."""

import math
import re
from dataclasses import dataclass, field

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.notes import MAX_DEPTH, TOO_DEEP, Notes
from ui_mcp.jsontypes import Json, JsonObject

_MAX_NODES = 5_000_000
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KEYWORDS: dict[str, Json] = {"": None, "~": None}


_KEYWORDS |= dict.fromkeys(("null", "Null", "NULL"))


_KEYWORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)


_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")
_NUMERIC_START = frozenset("0123456789+-.")
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1

_MAX_NUMBER_LENGTH = 310
"""A number with more digits does not fit into a float either."""

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML does not allow."""


def read_yaml(text: str, notes: Notes) -> Json:
    """Parse a YAML document; characters that YAML does not allow are replaced.

    Raises:
        ConfigError: it is not YAML, nested too deeply, or its aliases expand to too much.
    """
    try:
        return _read(text, notes)
    except yaml.YAMLError as error:
        raise ConfigError(f"Neither JSON nor YAML: {error}") from error


def _read(text: str, notes: Notes) -> Json:
    try:
        return _Builder(notes).build(text)
    except yaml.reader.ReaderError:
        readable, count = _FORBIDDEN.subn("\ufffd", text)
        if not count:
            raise
        notes.add("", "control_character", f"Control characters, {count} in all, are read as U+FFFD")
        return _Builder(notes).build(readable)


def scalar(text: str) -> Json:
    """Return the JSON value of a plain YAML scalar; a number too large for a float stays text."""
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if text[0] not in _NUMERIC_START or len(text) > _MAX_NUMBER_LENGTH:
        return text
    if _INTEGER.fullmatch(text):
        return _number(int(text), text)
    if _RADIX.fullmatch(text):
        return _number(int(text, 0), text)
    # `017` and `1.2.3` stay text: a leading zero usually means a code, not a number.
    if _FLOAT.fullmatch(text) and not _LEADING_ZERO.match(text):
        return _number(float(text), text)
    return text


def _number(value: float, text: str) -> Json:
    """Return a number that JSON can represent: integers beyond 64 bits become floats, as in JSON parsers."""
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        try:
            return float(value)
        except OverflowError:
            return text
    return text if math.isinf(value) else value


def _is_too_large(text: str) -> bool:
    """Return whether a text is a number that `scalar` left as text."""
    if text[:1] not in _NUMERIC_START or _LEADING_ZERO.match(text):
        return False
    return any(kind.fullmatch(text) for kind in (_INTEGER, _FLOAT, _RADIX))


@dataclass(slots=True)
class _Frame:
    value: Json
    anchor: str | None
    size: int = 1
    height: int = 0
    """Number of levels below."""
    key: str | None = None
    merges: list[JsonObject] = field(default_factory=list)


class _Builder:
    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Json, int, int]] = {}
        """Value, number of nodes and number of levels below, by anchor."""
        self._root: Json = None
        self._done = False

    def build(self, text: str) -> Json:
        next_event = _Loader(text).get_event
        while not self._done:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                self._scalar(event)
            elif kind is MappingStartEvent:
                self._open(_Frame({}, event.anchor))
            elif kind is SequenceStartEvent:
                self._open(_Frame([], event.anchor))
            elif kind in {MappingEndEvent, SequenceEndEvent}:
                self._close()
            elif kind is AliasEvent:
                self._alias(event)
            elif kind is StreamEndEvent:
                break
        return self._root

    def _open(self, frame: _Frame) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise ConfigError(TOO_DEEP)
        self._stack.append(frame)

    def _scalar(self, event: ScalarEvent) -> None:
        frame = self._stack[-1] if self._stack else None
        text = event.value
        if frame is not None and frame.key is None and type(frame.value) is dict:
            self._key(frame, text, event)
            return
        tag = event.tag or ""
        plain = event.implicit[0] or tag.rpartition(":")[2] in {"int", "float", "bool", "null"}
        value = scalar(text) if plain else text
        if plain and value is text and _is_too_large(text):
            self._notes.add("", "large_number", f"Line {_line(event)}: {text[:20]}… is too large and is read as text")
        if event.anchor:
            self._anchors[event.anchor] = (value, 1, 0)
        self._put(value, 1, 0)

    def _key(self, frame: _Frame, text: str, event: ScalarEvent) -> None:
        if event.anchor:
            self._anchors[event.anchor] = (text, 1, 0)
        if text in frame.value:
            self._notes.add("", "duplicate_key", f"Line {_line(event)}: key {text!r} is repeated; the last one counts")
        frame.key = text

    def _alias(self, event: AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise ConfigError(f"Line {_line(event)}: alias *{event.anchor} has no finished anchor")
        value, size, height = self._anchors[event.anchor]
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.key is None and type(frame.value) is dict:
            frame.key = str(value)
            return
        self._put(value, size, height)

    def _close(self) -> None:
        frame = self._stack.pop()
        for merged in frame.merges:
            for key, value in merged.items():
                frame.value.setdefault(key, value)
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, frame.size, frame.height)
        self._put(frame.value, frame.size, frame.height)

    def _put(self, value: Json, size: int, height: int) -> None:
        if not self._stack:
            self._root, self._done = value, True
            return
        frame = self._stack[-1]
        frame.size += size
        frame.height = max(frame.height, height + 1)
        if len(self._stack) + height > MAX_DEPTH:
            raise ConfigError(TOO_DEEP)
        if frame.size > _MAX_NODES:  # an alias bomb: nested aliases grow exponentially
            raise ConfigError("YAML aliases expand to too many values")
        if type(frame.value) is list:
            frame.value.append(value)
        elif frame.key is None:
            raise ConfigError("YAML keys must be text")
        elif frame.key == "<<" and isinstance(value, dict | list):
            frame.merges.extend([value] if isinstance(value, dict) else [part for part in value if type(part) is dict])
            frame.key = None
        else:
            frame.value[frame.key] = value
            frame.key = None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def line_of(data: bytes, path: tuple[int | str, ...]) -> int:
    """Return the line of a value, 1 if PyYAML cannot parse what our more tolerant reader accepts."""
    try:
        node = yaml.compose(data, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if str(key.value) == str(part)]
            if not found:
                break
            node = found[-1][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
        else:
            break
    return node.start_mark.line + 1 if node is not None else 1
