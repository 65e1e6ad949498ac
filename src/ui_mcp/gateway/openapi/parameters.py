"""Reads the parameters of an operation, from documents of version 2 and 3 alike."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ui_mcp.compositor.openapi.header_names import is_built, is_framing, is_name
from ui_mcp.compositor.openapi.media import base
from ui_mcp.compositor.openapi.notes import Notes
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.openapi.document import Document, Place
from ui_mcp.gateway.openapi.model import Location, Parameter
from ui_mcp.gateway.openapi.schemas import Schemas
from ui_mcp.jsontypes import JsonObject

_ORDER: tuple[Location, ...] = ("path", "query", "querystring", "header", "cookie")
_RESERVED = frozenset({"body", "content_type"})
_NOT_SCHEMA = frozenset({"name", "in", "required", "description", "collectionFormat", "allowEmptyValue"})
_COLLECTION = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}


def declared(document: Document, path_item: Place, operation: Place, notes: Notes) -> list[Place]:
    """Return the parameter objects that apply, those of the operation replacing the path item's."""
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
    """Turn parameter objects into parameters, complete for the path and with arguments that never clash."""
    found = [parameter for place in places if (parameter := _read(place, schemas, notes)) is not None]
    return _with_arguments(list(_for_path(found, path, notes)), has_body=has_body)


def _read(place: Place, schemas: Schemas, notes: Notes) -> Parameter | None:
    value: JsonObject = place.value
    name, location = value["name"], value.get("in")
    if location not in _ORDER:
        if location not in ("body", "formData"):
            notes.add(place.pointer, "bad_parameter", f"Parameter {name!r} has no usable place: {location!r}")
        return None
    if location == "header" and is_built(name):
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
        required=value.get("required") is True or location == "path",
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
    inline = {key: value for key, value in place.value.items() if key not in _NOT_SCHEMA}
    return None, Place(place.file, place.pointer, inline)


def _style(value: JsonObject, location: Location) -> tuple[str, bool]:
    default = "form" if location in {"query", "cookie", "querystring"} else "simple"
    collection = _COLLECTION.get(str(value.get("collectionFormat")))
    if collection or ("type" in value and "schema" not in value):
        style, explode = collection or ("form", False)
        return (style if default == "form" or style != "form" else default), explode
    given = value.get("style")
    chosen = given if isinstance(given, str) else default
    exploded = value.get("explode")
    return chosen, exploded if isinstance(exploded, bool) else chosen in {"form", "deepObject"}


def _for_path(found: list[Parameter], path: str, notes: Notes) -> Iterator[Parameter]:
    holes = re.findall(r"\{([^{}]+)\}", path)
    names = {parameter.name for parameter in found if parameter.location == "path"}
    for name in dict.fromkeys(holes):
        if name not in names:
            notes.add("", "undeclared_path_parameter", f"{{{name}}} is in the path but not declared; taken as text")
            yield Parameter(name, name, "path", required=True, schema={"type": "string"}, style="simple", explode=False)
    for parameter in found:
        if parameter.location == "path" and parameter.name not in holes:
            notes.add("", "unused_path_parameter", f"Parameter {parameter.name!r} is not in the path {path}")
            continue
        yield parameter


def _with_arguments(found: list[Parameter], *, has_body: bool) -> list[Parameter]:
    owner: dict[str, Location] = {}
    for location in reversed(_ORDER):
        owner |= {parameter.name: location for parameter in found if parameter.location == location}
    taken = _RESERVED if has_body else frozenset()
    return [
        parameter
        if owner[parameter.name] == parameter.location and parameter.name not in taken
        else replace(parameter, argument=f"{parameter.name}__{parameter.location}")
        for parameter in found
    ]
