"""The outcome of a tool call: a shortened text for the model, the whole value for the timeline."""

from dataclasses import dataclass

from ui_mcp.agent.transcript import ABORTED
from ui_mcp.errors import DeniedError
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Content, Media, Relayed, Text, ToolResult

CUT = "\n[… {left} more characters; ask for less, or for the next part …]"
STORED = 10 * 1024 * 1024
"""Longest stored result, in characters."""
NULS = "\n[NUL bytes were left out]"


@dataclass(frozen=True, slots=True)
class Outcome:
    text: str
    status: str
    content: JsonObject
    result: ToolResult | None = None
    aborts: bool = False
    """Whether policy or a person ended the turn with this denial."""


def answered(result: ToolResult, max_chars: int) -> Outcome:
    """Return the outcome of a tool result; the text for the model is cut to `max_chars`."""
    text = without_nuls("\n".join(_block(block) for block in result.content))
    value: Json = result.structured if result.structured is not None else text
    if len(text) > STORED or (result.structured is not None and len(dumps(value)) > STORED):
        value = text[:STORED] + CUT.format(left=max(len(text) - STORED, 0))
    shown = text if len(text) <= max_chars else _cut(text, max_chars)
    status = "error" if result.is_error else "done"
    return Outcome(shown, status, _content(value, is_error=result.is_error), result)


def failed(text: str) -> Outcome:
    """Return the outcome of a failed call; `text` tells the model how to react."""
    return Outcome(text, "error", _content(text, is_error=True))


def denied(error: DeniedError) -> Outcome:
    aborts = error.details.get("decision") == "deny_abort"
    return Outcome(error.message, "denied", _content(error.message, is_error=True), aborts=aborts)


def aborted() -> Outcome:
    """Return the outcome of an interrupted call, which may or may not have taken effect."""
    return Outcome(ABORTED, "aborted", _content(ABORTED, is_error=True))


def without_nuls(text: str) -> str:
    """Remove NUL characters, which vendors and databases reject, and append a note about it."""
    return text.replace("\0", "") + NULS if "\0" in text else text


def _block(block: Content) -> str:
    match block:
        case Text(text):
            return text
        case Relayed(raw):
            return _relayed(raw)
        case Media(kind, _, mime_type):
            return f"[{kind} {mime_type}]"


def _relayed(raw: JsonObject) -> str:
    match raw.get("type"):
        case "text":
            return str(raw.get("text", ""))
        case "resource" if isinstance((raw.get("resource") or {}).get("text"), str):
            return str(raw["resource"]["text"])
        case "resource_link" | "resource":
            return f"[resource {raw.get('uri') or (raw.get('resource') or {}).get('uri', '')}]"
        case kind:
            return f"[{kind} {raw.get('mimeType', '')}]"


def _content(value: object, *, is_error: bool) -> JsonObject:
    return {"kind": "json", "result": value, "is_error": is_error}


def _cut(text: str, limit: int) -> str:
    at = text.rfind("\n", limit // 2, limit)
    at = at if at > 0 else limit
    return text[:at] + CUT.format(left=len(text) - at)
