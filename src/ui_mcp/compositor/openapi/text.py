"""Reads JSON or YAML text, by content and not by name, into plain JSON values.

YAML is taken by the 1.2 core rules, since 1.1 turns `on`, `no` and `2022-11-15` into something else. Keys are always
text, a repeated key keeps its last value, and aliases may not blow a document up.
"""

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

from ui_mcp.compositor.openapi.notes import Notes
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json, JsonObject, loads

MAX_BYTES = 50 * 1024 * 1024
_MAX_NODES = 5_000_000
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, Json] = {"": None, "~": None}
_WORDS |= dict.fromkeys(("null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_NUMERIC_START = frozenset("0123456789+-.")


def parse(data: bytes, notes: Notes | None = None) -> Json:
    """Read a document.

    Raises:
        ConfigError: it is too large, or neither JSON nor YAML.
    """
    if len(data) > MAX_BYTES:
        raise ConfigError(f"Document of {len(data)} bytes is larger than {MAX_BYTES}")
    text = decode(data)
    if text.lstrip()[:1] in {"{", "["}:
        try:
            return loads(text)
        except ValueError:
            pass
    try:
        return _Builder(notes or Notes()).build(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"Neither JSON nor YAML: {error}") from error


def decode(data: bytes) -> str:
    """Decode UTF-8 or UTF-16, with or without a byte order mark."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    return data.decode("utf-8", errors="replace")


def scalar(text: str) -> Json:
    """Give plain YAML text its JSON value."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC_START:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _RADIX.fullmatch(text):
        return int(text, 0)
    # `017` and `1.2.3` stay text: a leading zero is a code far more often than a number.
    if _FLOAT.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return float(text)
    return text


@dataclass(slots=True)
class _Frame:
    value: Json
    anchor: str | None
    size: int = 1
    key: str | None = None
    merges: list[JsonObject] = field(default_factory=list)


class _Builder:
    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Json, int]] = {}
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
                self._stack.append(_Frame({}, event.anchor))
            elif kind is SequenceStartEvent:
                self._stack.append(_Frame([], event.anchor))
            elif kind in {MappingEndEvent, SequenceEndEvent}:
                self._close()
            elif kind is AliasEvent:
                self._alias(event)
            elif kind is StreamEndEvent:
                break
        return self._root

    def _scalar(self, event: ScalarEvent) -> None:
        frame = self._stack[-1] if self._stack else None
        text = event.value
        if frame is not None and frame.key is None and type(frame.value) is dict:
            self._key(frame, text, event)
            return
        tag = event.tag or ""
        plain = event.implicit[0] or tag.rpartition(":")[2] in {"int", "float", "bool", "null"}
        value = scalar(text) if plain else text
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._put(value, 1)

    def _key(self, frame: _Frame, text: str, event: ScalarEvent) -> None:
        if event.anchor:
            self._anchors[event.anchor] = (text, 1)
        if text in frame.value:
            self._notes.add("", "duplicate_key", f"Line {_line(event)}: key {text!r} is repeated; the last one counts")
        frame.key = text

    def _alias(self, event: AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise ConfigError(f"Line {_line(event)}: alias *{event.anchor} has no finished anchor")
        value, size = self._anchors[event.anchor]
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.key is None and type(frame.value) is dict:
            frame.key = str(value)
            return
        self._put(value, size)

    def _close(self) -> None:
        frame = self._stack.pop()
        for merged in frame.merges:
            for key, value in merged.items():
                frame.value.setdefault(key, value)
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, frame.size)
        self._put(frame.value, frame.size)

    def _put(self, value: Json, size: int) -> None:
        if not self._stack:
            self._root, self._done = value, True
            return
        frame = self._stack[-1]
        frame.size += size
        if frame.size > _MAX_NODES:
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
