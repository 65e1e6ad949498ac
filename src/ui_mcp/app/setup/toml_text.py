"""Edits TOML as text: one table is replaced, added or removed, every other line stays."""

import re
import tomllib
from collections.abc import Sequence

from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json, JsonObject, dumps

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"\s*\[\[?(.*?)\]\]?\s*(?:#.*)?")


def parse(text: str) -> JsonObject:
    """Return what the text means.

    Raises:
        ConfigError: it is not TOML.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is not TOML: {error}") from error


def edited(text: str, path: Sequence[str], value: JsonObject | None) -> str:
    """Return the text with the table at `path` replaced or added; None removes it.

    Raises:
        ConfigError: the text is not TOML.
    """
    parse(text)
    rest = _without(text, path)
    if value is None:
        return rest
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _table(path, value)
    gap = "" if not rest.strip() else newline if rest.endswith("\n") else newline * 2
    return f"{rest}{gap}{newline.join(lines)}{newline}"


def _without(text: str, path: Sequence[str]) -> str:
    """Leave out the table and its sub-tables, but not the comments above the table that follows."""
    kept: list[str] = []
    waiting: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = _HEADER.fullmatch(line.rstrip("\r\n"))
        if header:
            inside = _names(header[1])[: len(path)] == list(path)
            kept += waiting
            waiting = []
        if not inside:
            kept.append(line)
        elif header or (line.strip() and not line.lstrip().startswith("#")):
            waiting = []
        else:
            waiting.append(line)
    return "".join([*kept, *waiting])


def _names(header: str) -> list[str]:
    try:
        parsed: Json = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return []
    names: list[str] = []
    while isinstance(parsed, dict) and len(parsed) == 1:
        name = next(iter(parsed))
        names.append(name)
        parsed = parsed[name]
    return names


def _table(path: Sequence[str], value: JsonObject) -> list[str]:
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_value(one)}" for name, one in value.items()]
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else dumps(name)


def _value(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    # Strings, numbers and booleans of JSON are TOML too; DEL is the one character that TOML wants escaped as well.
    return dumps(value).replace("\x7f", "\\u007f")
