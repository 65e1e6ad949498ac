"""Reads the arguments a model wrote, repairing what is trivially broken."""

import re

from ui_mcp.jsontypes import Json, JsonObject, dumps, loads

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
        found, problem = checked_arguments(value)
        if found is not None:
            return found, None
    return None, problem


def checked_arguments(value: Json) -> tuple[JsonObject | None, str]:
    """Return arguments that can be written down and sent on, or None and the reason."""
    if not isinstance(value, dict):
        return None, f"a JSON object is needed, not {type(value).__name__}"
    try:
        dumps([[[[[[value]]]]]])  # as deep as the journal wraps them
    except (TypeError, ValueError) as error:
        return None, f"they cannot be used: {error}"
    return value, ""


def _attempts(text: str) -> list[str]:
    fenced = _FENCE.match(text)
    inner = fenced[1].strip() if fenced else text
    # Mending is tried only after the text as it came: a comma before a brace may be part of a string.
    return [text, inner, _TRAILING_COMMA.sub(r"\1", inner)]
