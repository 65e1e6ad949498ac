"""Reads the parts of a vendor's answer; whatever has another shape than the dialect says is an error of this turn."""

import math

from ui_mcp.agent.model import ToolUse
from ui_mcp.agent.models.http import checked_arguments
from ui_mcp.errors import ModelError
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import Json, JsonObject

_SHOWN = 80
_MOST_TOKENS = 10**12
"""No answer has more; sums of such counts can still be written as JSON."""


def record(value: Json, what: str) -> JsonObject:
    """Return an object; nothing at all is an empty one.

    Raises:
        ModelError: it is something else.
    """
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise _wrong(what, "an object", value)


def listed(value: Json, what: str) -> list[Json]:
    """Return a list; nothing at all is an empty one.

    Raises:
        ModelError: it is something else.
    """
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise _wrong(what, "a list", value)


def text(value: Json, what: str) -> str:
    """Return text; nothing at all is empty.

    Raises:
        ModelError: it is something else.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise _wrong(what, "text", value)


def prose(value: Json, what: str) -> str:
    """Return text that some servers send as a list of parts.

    Raises:
        ModelError: it is something else.
    """
    if isinstance(value, list):
        return "".join(text(record(part, what).get("text"), what) for part in value)
    return text(value, what)


def position(value: Json, what: str) -> int:
    """Return the place of a piece in its list.

    Raises:
        ModelError: it is no whole number.
    """
    if isinstance(value, int):
        return value
    raise _wrong(what, "a whole number", value)


def amount(value: Json) -> int:
    """Return a count of tokens; one that makes no sense is not worth the answer."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return 0
    return int(min(value, _MOST_TOKENS))


def complaint(error: Json) -> str:
    """Return what a vendor says went wrong, however it wraps that."""
    return str(error.get("message") or error if isinstance(error, dict) else error)[:300]


def tool_use(call_id: str, name: str, arguments: Json, signature: JsonObject | None = None) -> ToolUse:
    """Return a call whose arguments came whole."""
    call_id = call_id or f"call_{secret_id()[:16]}"
    found, problem = checked_arguments({} if arguments is None else arguments)
    return ToolUse(call_id, name, found, problem or None, signature or {})


def _wrong(what: str, wanted: str, value: Json) -> ModelError:
    shown = repr(value)[:_SHOWN]
    return ModelError(f"The model server sent {what} that cannot be read: {wanted} was expected, not {shown}")
