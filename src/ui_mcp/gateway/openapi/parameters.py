"""Reads the parameters and request bodies of operations."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.openapi import model
from ui_mcp.gateway.openapi.document import Document, Place
from ui_mcp.gateway.openapi.files import FILE, with_files
from ui_mcp.gateway.openapi.model import Body, Location, Parameter, Variant, base
from ui_mcp.gateway.openapi.schemas import Schemas
from ui_mcp.jsontypes import JsonObject

_TEXT: JsonObject = {"type": "string"}
_FORM_TYPES = ("multipart/form-data", "application/x-www-form-urlencoded")


def read_body(document: Document, operation: Place, schemas: Schemas, notes: Notes) -> Body | None:
    """Read the `requestBody` of version 3; one that cannot be read is assumed to be JSON, and noted."""
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
        notes.add(body.pointer, "bodyless", "The body has no media type that can be sent; JSON is assumed")
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
            variants = _ranked(Variant(kind, _argument_schema(kind, schema, schemas)) for kind in kinds)
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
    allowed = [kind for kind in consumes if model.base(kind) in _FORM_TYPES]
    # Only multipart can carry files, whatever `consumes` says.
    kinds = [_FORM_TYPES[0]] if has_file else allowed or [_FORM_TYPES[1]]
    return Body(
        bool(required), _ranked(Variant(kind, _argument_schema(kind, schema, schemas), encoding) for kind in kinds)
    )


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
    return Variant(kind, _argument_schema(kind, schema, schemas), encoding if isinstance(encoding, dict) else {})


def _argument_schema(kind: str, schema: JsonObject, schemas: Schemas) -> JsonObject:
    """Return the schema of a body argument: a string for unparsed text types, a file for binary types."""
    if model.is_multipart(kind):
        return with_files(schema, schemas.definitions)
    if model.is_json(kind) or model.is_form(kind):
        return schema
    if model.is_text(kind):
        described = schema.get("description")
        return {**_TEXT, "description": described} if isinstance(described, str) else {**_TEXT}
    return FILE


def _ranked(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    usable = [variant for variant in variants if model.is_sendable(variant.media_type)]
    return tuple(sorted(usable, key=lambda variant: model.preference(variant.media_type)))


_FRAMING = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "te", "trailer", "trailers", "expect", "upgrade"),
        *("connection", "keep-alive", "http2-settings"),
    }
)
"""Headers that frame the message, or apply to one hop only."""

_GENERATED = frozenset({"accept", "content-type", "authorization"})
_NAME_CHARACTERS = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _is_generated(name: str) -> bool:
    """Return whether the request gets this header from its body, its responses or credentials, not from a parameter."""
    return name.lower() in _GENERATED


def is_framing(name: str) -> bool:
    """Return whether a header controls the transfer of the message instead of its content."""
    lowered = name.lower()
    return lowered in _FRAMING or lowered.startswith(("proxy-", ":"))


def is_name(name: str) -> bool:
    """Return whether a text is a valid header name (an RFC 9110 token)."""
    return bool(name) and _NAME_CHARACTERS.issuperset(name)


_ORDER: tuple[Location, ...] = ("path", "query", "querystring", "header", "cookie")
"""Where parameters share a name, the first location keeps it as its argument."""
_RESERVED = frozenset({"body", "content_type"})
_NOT_SCHEMA = frozenset({"name", "in", "required", "description", "collectionFormat", "allowEmptyValue"})

_COLLECTION = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
"""`collectionFormat` of version 2 as style and explode."""


def declared(document: Document, path_item: Place, operation: Place, notes: Notes) -> list[Place]:
    """Return the parameter objects of an operation; they override those of its path item by name and location."""
    found: dict[tuple[str, str], Place] = {}
    for owner in (path_item, operation):
        for place in owner.at("parameters").values():
            try:
                parameter = document.follow(place)
            except (UiMcpError, ValueError) as error:
                notes.add(place.pointer, "dangling_reference", str(error))
                continue
            value = parameter.value
            if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"]:
                notes.add(place.pointer, "bad_parameter", "A parameter without a name is left out")
                continue
            found[value["name"], str(value.get("in"))] = parameter
    return list(found.values())


def read(places: Iterable[Place], path: str, schemas: Schemas, notes: Notes, *, has_body: bool) -> list[Parameter]:
    """Convert parameter objects; every path variable gets a parameter, and argument names are unique."""
    found = [parameter for place in places if (parameter := _read(place, schemas, notes)) is not None]
    return _with_arguments(list(_for_path(found, path, notes)), has_body=has_body)


def _read(place: Place, schemas: Schemas, notes: Notes) -> Parameter | None:
    value: JsonObject = place.value
    name, location = value["name"], value.get("in")
    if location not in _ORDER:
        if location not in ("body", "formData"):
            notes.add(place.pointer, "bad_parameter", f"Parameter {name!r} has an unknown location: {location!r}")
        return None
    if location == "header" and _is_generated(name):  # OpenAPI says to ignore such parameters
        return None
    if location == "header" and not is_name(name):
        notes.add(place.pointer, "bad_parameter", f"{name!r} cannot be the name of a header; it is left out")
        return None
    if location == "header" and is_framing(name):
        notes.add(place.pointer, "framing_header", f"Header {name!r} belongs to the connection; it is left out")
        return None
    style, explode = _style(value, location)
    media_type, schema = _content(place)
    described = value.get("description")
    return Parameter(
        name=value["name"],
        argument=value["name"],
        location=location,
        required=value.get("required") is True or location == "path",  # also if the document forgets it
        schema=schemas.convert(schema),
        style=style,
        explode=explode,
        allow_reserved=value.get("allowReserved") is True,
        allow_empty=value.get("allowEmptyValue") is True,
        media_type=media_type,
        description=described if isinstance(described, str) else "",
    )


def _content(place: Place) -> tuple[str | None, Place]:
    content = place.value.get("content")
    if isinstance(content, dict) and content:
        media_type = next(iter(content))
        return base(media_type), place.at("content", media_type, "schema")
    if "schema" in place.value:
        return None, place.at("schema")
    # Version 2 has the schema keywords in the parameter itself.
    inline = {key: value for key, value in place.value.items() if key not in _NOT_SCHEMA}
    return None, Place(place.file, place.pointer, inline)


def _style(value: JsonObject, location: Location) -> tuple[str, bool]:
    default = "form" if location in {"query", "cookie", "querystring"} else "simple"
    collection = _COLLECTION.get(str(value.get("collectionFormat")))
    # Version 2 has the type in the parameter itself, and never explodes unless it says so.
    if collection or ("type" in value and "schema" not in value):
        style, explode = collection or ("form", False)
        return (style if default == "form" or style != "form" else default), explode
    given = value.get("style")
    chosen = given if isinstance(given, str) else default
    exploded = value.get("explode")
    return chosen, exploded if isinstance(exploded, bool) else chosen in {"form", "deepObject"}


def _for_path(found: list[Parameter], path: str, notes: Notes) -> Iterator[Parameter]:
    variables = re.findall(r"\{([^{}]+)\}", path)
    names = {parameter.name for parameter in found if parameter.location == "path"}
    for name in dict.fromkeys(variables):
        if name not in names:
            notes.add(
                "", "undeclared_path_parameter", f"{{{name}}} is in the path but not declared; treated as a string"
            )
            yield Parameter(name, name, "path", required=True, schema={"type": "string"}, style="simple", explode=False)
    for parameter in found:
        if parameter.location == "path" and parameter.name not in variables:
            notes.add("", "unused_path_parameter", f"Parameter {parameter.name!r} is not in the path {path}")
            continue
        yield parameter


def _with_arguments(found: list[Parameter], *, has_body: bool) -> list[Parameter]:
    owner: dict[str, Location] = {}
    for location in reversed(_ORDER):  # so that the first in order is written last
        owner |= {parameter.name: location for parameter in found if parameter.location == location}
    taken = _RESERVED if has_body else frozenset()
    return [
        parameter
        if owner[parameter.name] == parameter.location and parameter.name not in taken
        else replace(parameter, argument=f"{parameter.name}__{parameter.location}")
        for parameter in found
    ]
