"""Reads the arguments a model wrote, mending what is trivially broken."""

import re

from ui_mcp.jsontypes import Json, JsonObject, loads

_FENCE = re.compile(r"^```[a-zA-Z]*\s*\n?(.*?)\n?```$", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def read_arguments(text: str) -> tuple[JsonObject | None, str | None]:
    """Return the arguments, or None and the reason; nothing at all means no arguments."""
    stripped = text.strip()
    if not stripped:
        return {}, None
    problem = "not JSON"
    for attempt in _attempts(stripped):
        try:
            value: Json = loads(attempt)
        except ValueError as error:
            problem = f"not JSON: {error}"
            continue
        if isinstance(value, dict):
            return value, None
        problem = f"a JSON object is needed, not {type(value).__name__}"
    return None, problem


def _attempts(text: str) -> list[str]:
    fenced = _FENCE.match(text)
    inner = fenced[1].strip() if fenced else text
    # Mending is tried only after the text as it came: a comma before a brace may be part of a string.
    return [text, inner, _TRAILING_COMMA.sub(r"\1", inner)]
