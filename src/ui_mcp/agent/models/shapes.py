"""Checks the types of values in a vendor's response; a wrong type is a ModelError, which ends the turn only."""

import math
from secrets import token_hex

from ui_mcp.agent.model import ToolUse
from ui_mcp.agent.models.http import checked_arguments
from ui_mcp.errors import ModelError
from ui_mcp.jsontypes import Json, JsonObject

_SHOWN = 80
_MOST_TOKENS = 10**12
"""Cap on token counts, so that their sums can still be encoded as JSON."""


def record(value: Json, what: str) -> JsonObject:
    """Return an object; None becomes an empty one.

    Raises:
        ModelError: the value has another type.
    """
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise _wrong(what, "an object", value)


def listed(value: Json, what: str) -> list[Json]:
    """Return a list; None becomes an empty one.

    Raises:
        ModelError: the value has another type.
    """
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise _wrong(what, "a list", value)


def text(value: Json, what: str) -> str:
    """Return text; None becomes empty text.

    Raises:
        ModelError: the value has another type.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise _wrong(what, "text", value)


def prose(value: Json, what: str) -> str:
    """Return text, which some servers send as a list of parts.

    Raises:
        ModelError: the value has another type.
    """
    if isinstance(value, list):
        return "".join(text(record(part, what).get("text"), what) for part in value)
    return text(value, what)


def position(value: Json, what: str) -> int:
    """Return an index.

    Raises:
        ModelError: the value is not a whole number.
    """
    if isinstance(value, int):
        return value
    raise _wrong(what, "a whole number", value)


def amount(value: Json) -> int:
    """Return a count of tokens; 0 if it is invalid, which is no reason to lose the answer."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return 0
    return int(min(value, _MOST_TOKENS))


def tool_use(call_id: str, name: str, arguments: Json, signature: JsonObject | None = None) -> ToolUse:
    """Return a call whose arguments were sent as JSON, not as text in parts; an id is generated if there is none."""
    call_id = call_id or f"call_{token_hex(8)}"
    found, problem = checked_arguments({} if arguments is None else arguments)
    return ToolUse(call_id, name, found, problem or None, signature or {})


def _wrong(what: str, wanted: str, value: Json) -> ModelError:
    shown = repr(value)[:_SHOWN]
    return ModelError(f"The model server sent {what} that cannot be read: {wanted} was expected, not {shown}")
