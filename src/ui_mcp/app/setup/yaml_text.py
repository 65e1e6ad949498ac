"""Edits YAML as text, as far as that loses no comment."""

from collections.abc import Sequence

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.editor import edited as rewritten
from ui_mcp.gateway.config.parse import parse as parse_yaml
from ui_mcp.jsontypes import JsonObject


def parse(text: str) -> JsonObject:
    """Return what the text means.

    Raises:
        ConfigError: it is not YAML, or not a mapping.
    """
    found = parse_yaml(text.encode()) or {}
    if not isinstance(found, dict):
        raise ConfigError("it is not a mapping")
    return found


def edited(text: str, path: Sequence[str], value: JsonObject | None) -> str:
    """Return the text with the value at `path` replaced or added; None removes it.

    Raises:
        ConfigError: it is not YAML, or a comment would be lost.
    """
    whole = parse(text)
    *above, name = path
    inner: JsonObject = whole
    for key in above:
        if not isinstance(inner.get(key), dict):
            if value is None:
                return text
            inner[key] = {}
        inner = inner[key]
    if value is None:
        if inner.pop(name, None) is None:
            return text
    else:
        inner[name] = value
    result = rewritten(text, whole)
    lost = [line.strip() for line in text.splitlines() if "#" in line and line.strip() not in result]
    if lost:
        raise ConfigError(f"the comment {lost[0]!r} would be lost")
    return result
