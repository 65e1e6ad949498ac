"""Reads the request body of an operation, from documents of version 2 and 3 alike."""

from collections.abc import Iterable, Sequence

from ui_mcp.compositor.openapi import media
from ui_mcp.compositor.openapi.notes import Notes
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.openapi.document import Document, Place
from ui_mcp.gateway.openapi.files import FILE, with_files
from ui_mcp.gateway.openapi.model import Body, Variant
from ui_mcp.gateway.openapi.schemas import Schemas
from ui_mcp.jsontypes import JsonObject

_TEXT: JsonObject = {"type": "string"}
_FORM_TYPES = ("multipart/form-data", "application/x-www-form-urlencoded")


def read_body(document: Document, operation: Place, schemas: Schemas, notes: Notes) -> Body | None:
    """Read the `requestBody` of version 3."""
    if operation.at("requestBody").value is None:
        return None
    try:
        body = document.follow(operation.at("requestBody"))
    except (UiMcpError, ValueError) as error:
        notes.add(operation.pointer + "/requestBody", "dangling_reference", str(error))
        return Body(False, (Variant("application/json", {}),))
    content = body.at("content")
    variants = _ranked(_variant(document, kind, place, schemas) for kind, place in content.items())
    if not variants:
        notes.add(body.pointer, "bodyless", "The body names no media type we can send; JSON is assumed")
        variants = (Variant("application/json", {}),)
    described = body.value.get("description") if isinstance(body.value, dict) else None
    required = isinstance(body.value, dict) and body.value.get("required") is True
    return Body(required, variants, described if isinstance(described, str) else "")


def read_body_v2(places: Sequence[Place], consumes: Sequence[str], schemas: Schemas) -> Body | None:
    """Read the `body` or `formData` parameters of version 2."""
    for place in places:
        if place.value.get("in") == "body":
            kinds = consumes or ("application/json",)
            schema = schemas.convert(place.at("schema"))
            variants = _ranked(Variant(kind, _as_sent(kind, schema, schemas)) for kind in kinds)
            described = place.value.get("description")
            return Body(
                place.value.get("required") is True,
                variants or (Variant("application/json", schema),),
                described if isinstance(described, str) else "",
            )
    fields = [place for place in places if place.value.get("in") == "formData"]
    return _form_v2(fields, consumes, schemas) if fields else None


def _form_v2(fields: Sequence[Place], consumes: Sequence[str], schemas: Schemas) -> Body:
    properties: JsonObject = {}
    encoding: JsonObject = {}
    for place in fields:
        name = place.value["name"]
        skip = {"name", "in", "required", "collectionFormat", "allowEmptyValue"}
        inline = {key: value for key, value in place.value.items() if key not in skip}
        if inline.get("type") == "file":
            inline |= {"type": "string", "format": "binary"}
        properties[name] = schemas.convert(Place(place.file, place.pointer, inline))
        if place.value.get("type") == "array":
            encoding[name] = {"style": "form", "explode": place.value.get("collectionFormat") == "multi"}
    required = [place.value["name"] for place in fields if place.value.get("required") is True]
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    has_file = any(place.value.get("type") == "file" for place in fields)
    allowed = [kind for kind in consumes if media.base(kind) in _FORM_TYPES]
    kinds = [_FORM_TYPES[0]] if has_file else allowed or [_FORM_TYPES[1]]
    return Body(bool(required), _ranked(Variant(kind, _as_sent(kind, schema, schemas), encoding) for kind in kinds))


def _variant(document: Document, kind: str, place: Place, schemas: Schemas) -> Variant:
    try:
        target = document.follow(place)
    except (UiMcpError, ValueError):
        target = place
    encoding = target.at("encoding").value
    schema_at = target.at("schema") if target.at("schema").value is not None else target.at("itemSchema")
    if schema_at.pointer.endswith("itemSchema") and schema_at.value is not None:
        schema: JsonObject = {"type": "array", "items": schemas.convert(schema_at)}
    else:
        schema = schemas.convert(schema_at)
    return Variant(kind, _as_sent(kind, schema, schemas), encoding if isinstance(encoding, dict) else {})


def _as_sent(kind: str, schema: JsonObject, schemas: Schemas) -> JsonObject:
    """Say what a caller gives for a type: text for what we do not take apart, a file for what is binary."""
    if media.is_multipart(kind):
        return with_files(schema, schemas.definitions)
    if media.is_json(kind) or media.is_form(kind):
        return schema
    if media.is_text(kind):
        described = schema.get("description")
        return {**_TEXT, "description": described} if isinstance(described, str) else {**_TEXT}
    return FILE


def _ranked(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    usable = [variant for variant in variants if media.is_sendable(variant.media_type)]
    return tuple(sorted(usable, key=lambda variant: media.preference(variant.media_type)))
