"""Makes up arguments that fit an input schema, so that every operation of a document can be called once."""

import re
from contextlib import suppress

from hypothesis import find
from hypothesis.errors import InvalidArgument, NoSuchExample
from hypothesis.strategies import from_regex

from ui_mcp.jsontypes import Json, JsonObject

_FORMATS = {
    "date": "2026-01-02",
    "date-time": "2026-01-02T03:04:05Z",
    "email": "a@example.com",
    "uri": "https://example.com/a",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_PLAIN = ("string", "integer", "number", "boolean")


def arguments_for(schema: JsonObject) -> JsonObject:
    """Give every parameter a value, not only the required ones."""
    return {name: value(member, schema, 0) for name, member in schema["properties"].items() if name != "content_type"}


def value(schema: Json, root: JsonObject, depth: int) -> Json:
    """Make a value that fits one schema."""
    schema = _followed(schema, root)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema and "properties" not in schema:
            return value(schema[key][0], root, depth)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = next(one for one in kind if one != "null") if isinstance(kind, list) else kind
    simple: JsonObject = {"boolean": True, "null": None, "number": schema.get("minimum", 1.5)}
    if kind in simple:
        return simple[kind]
    if kind == "integer":
        return int(schema.get("maximum", max(schema.get("minimum", 1), 1)))
    if kind == "object":
        return _object(schema, root, depth)
    if kind == "array":
        rows = max(schema.get("minItems", 1), 1) if depth < 6 else 0
        return [value(schema.get("items", {}), root, depth + 1) for _ in range(rows)]
    return _text(schema)


def _text(schema: JsonObject) -> str:
    shortest, longest = max(int(schema.get("minLength", 1)), 1), int(schema.get("maxLength", 10_000))
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if "pattern" in schema:
        with suppress(re.error, NoSuchExample, InvalidArgument):
            texts = from_regex(str(schema["pattern"])).filter(str.isprintable)
            return find(texts, lambda text: shortest <= len(text) <= longest)
    return "x" * shortest


def _object(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    known = schema.get("properties", {})
    # A choice may only say which of the properties have to be given.
    chosen: list[str] = next((schema[key][0].get("required", []) for key in ("anyOf", "oneOf") if key in schema), [])
    names = dict.fromkeys([*(schema.get("required", []) if depth > 1 else known), *chosen])
    if not names:  # a form cannot say that there is an object with nothing in it
        names = dict.fromkeys([name for name in known if _followed(known[name], root).get("type") in _PLAIN][:1])
    return {name: value(known.get(name, {}), root, depth + 1) for name in names}


def _followed(schema: Json, root: JsonObject) -> JsonObject:
    found: JsonObject = schema if isinstance(schema, dict) else {}
    while isinstance(found.get("$ref"), str):
        siblings = {key: member for key, member in found.items() if key != "$ref"}
        found = {**root["$defs"][found["$ref"].removeprefix("#/$defs/")], **siblings}
    return found
