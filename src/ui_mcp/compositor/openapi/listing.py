"""How an operation is listed: name, words, hints and a schema that fits the budget."""

import html
import re

from ui_mcp.compositor.openapi.outputs import loosened
from ui_mcp.gateway.openapi.bundle import shrunk
from ui_mcp.gateway.openapi.model import Operation
from ui_mcp.toolkit.tool import Annotations, Tool

DESTRUCTIVE = frozenset({"delete", "remove", "destroy", "drop", "purge", "reset", "cancel", "revoke", "terminate"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
_DESCRIBED = 300


def listed(operation: Operation, name: str, budget: int) -> Tool:
    """Return the tool clients see; calls are still checked against the full schema."""
    description = describe(operation)
    room = max(budget - len(description) - len(name) - 250, 500)
    return Tool(
        name=name,
        title=title(operation),
        description=description,
        input_schema=shrunk(operation.input_schema, room),
        output_schema=loosened(operation.output_schema) if operation.output_schema else None,
        annotations=hints(operation),
    )


def title(operation: Operation) -> str:
    """Return a short human name."""
    return plain(operation.summary)[:100] or f"{operation.method} {operation.path}"


def describe(operation: Operation) -> str:
    """Say what it does in at most 300 characters, and which request it is."""
    summary, details = plain(operation.summary), plain(operation.description)
    words = details if not summary or details.startswith(summary) else summary
    if summary and details and words == summary:
        words = f"{summary.rstrip('.')}. {details}"
    if len(words) > _DESCRIBED:
        words = words[:_DESCRIBED].rsplit(" ", 1)[0] + "…"
    request = f"{operation.method} {operation.path}"
    lead = "(deprecated) " if operation.deprecated else ""
    return f"{lead}{words}\n{request}" if words else lead + request


def hints(operation: Operation) -> Annotations:
    """Derive the hints from the method, and from words in the name for POST."""
    method = operation.method
    if method in SAFE_METHODS:
        return Annotations(read_only=True, destructive=False, idempotent=True, open_world=True)
    destructive = method in {"PUT", "PATCH", "DELETE"} or bool(_words(operation) & DESTRUCTIVE)
    return Annotations(
        read_only=False, destructive=destructive, idempotent=method in {"PUT", "DELETE"}, open_world=True
    )


def plain(text: str) -> str:
    """Remove HTML and markdown noise."""
    if not text:
        return ""
    text = re.sub(r"<[^<>]{1,200}>", " ", text) if "<" in text else text
    text = html.unescape(text) if "&" in text else text
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text) if "](" in text else text
    text = re.sub(r"[`*#]+", "", text)
    return re.sub(r"\s+", " ", text).strip()


def _words(operation: Operation) -> set[str]:
    last = operation.path.rstrip("/").rsplit("/", 1)[-1]
    return {
        word.lower()
        for text in (operation.operation_id, last)
        for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    }
