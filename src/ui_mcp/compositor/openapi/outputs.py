"""What an operation answers: read on request, listed so loosely that no answer is refused, compared with the truth."""

from ui_mcp.compositor.openapi import media
from ui_mcp.compositor.openapi.bundle import bundle
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.openapi.document import Document, Place
from ui_mcp.gateway.openapi.schemas import Schemas
from ui_mcp.gateway.openapi.validation import Checker, UncheckableError
from ui_mcp.jsontypes import Json, JsonObject

_SHOWN = 5
_REFERENCE = "#/$defs/"


def read_output(document: Document, operation: Place, schemas: Schemas) -> JsonObject | None:
    """Return the schema of the first successful JSON answer."""
    for status, place in sorted(operation.at("responses").items()):
        if not status.startswith(("2", "d")):
            continue
        try:
            response = document.follow(place)
        except (UiMcpError, ValueError):
            continue
        found = response.at("schema")
        for kind, content in response.at("content").items():
            if media.is_json(kind):
                found = content.at("schema")
                break
        if isinstance(found.value, dict):
            return bundle(schemas.convert(found), schemas.definitions)
    return None


def loosened(schema: JsonObject) -> JsonObject:
    """Name the fields of an answer without demanding anything of them: documents are often wrong here."""
    known = _resolved(schema, schema)
    properties = known.get("properties")
    fields = properties if isinstance(properties, dict) else {"result": known}
    return {"type": "object", "properties": {name: _hint(_resolved(part, schema)) for name, part in fields.items()}}


def drift(schema: JsonObject, value: Json) -> list[str]:
    """Say where an answer differs from its description."""
    try:
        found = Checker(schema).errors(value)
    except UncheckableError:
        return []
    problems = sorted(found, key=lambda error: list(map(str, error.path)))
    return [f"{'.'.join(map(str, error.path)) or 'answer'}: {error.message[:200]}" for error in problems[:_SHOWN]]


def _resolved(part: Json, root: JsonObject) -> JsonObject:
    if not isinstance(part, dict):
        return {}
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith(_REFERENCE):
        found = root.get("$defs", {}).get(reference[len(_REFERENCE) :])
        return found if isinstance(found, dict) else {}
    return part


def _hint(part: JsonObject) -> JsonObject:
    kind = part.get("type")
    words = kind if isinstance(kind, str) else " or ".join(kind) if isinstance(kind, list) else ""
    told = part.get("description")
    text = f"{words}: {told}" if words and isinstance(told, str) else words or (told if isinstance(told, str) else "")
    return {"description": text[:200]} if text else {}
