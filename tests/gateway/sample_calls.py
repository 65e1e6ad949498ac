"""Makes up arguments that fit an input schema, so that every operation of a document can be called once."""

from ui_mcp.jsontypes import Json, JsonObject


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
    return "x" * max(schema.get("minLength", 1), 1)


def _object(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    names = schema.get("required", []) if depth > 1 else schema.get("properties", {})
    known = schema.get("properties", {})
    return {name: value(known.get(name, {}), root, depth + 1) for name in names}


def _followed(schema: Json, root: JsonObject) -> JsonObject:
    found: JsonObject = schema if isinstance(schema, dict) else {}
    while isinstance(found.get("$ref"), str):
        siblings = {key: member for key, member in found.items() if key != "$ref"}
        found = {**root["$defs"][found["$ref"].removeprefix("#/$defs/")], **siblings}
    return found
