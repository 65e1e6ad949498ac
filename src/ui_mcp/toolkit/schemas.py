"""JSON Schema of argument classes, with nothing in it that only costs a model tokens."""

from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from ui_mcp.fields import FieldInfo, Length, Limit, OneOf, Pattern, Schema, fields_of, rules_of, unmarked
from ui_mcp.jsontypes import Json, JsonObject

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def input_schema(args: type) -> JsonObject:
    """Return the schema of an argument class: optional arguments are not required, and never null."""
    named = [(field.names[0], field) for field in fields_of(args).values()]
    schema: JsonObject = {"type": "object", "properties": {name: _property(field) for name, field in named}}
    if required := [name for name, field in named if field.required]:
        schema["required"] = required
    if rules_of(args).unknown == "refuse":
        schema["additionalProperties"] = False
    return schema


def _property(field: FieldInfo) -> JsonObject:
    schema = _schema(field.annotation)
    if field.description:
        schema = {**schema, "description": field.description}
    return {**schema, "default": field.default} if _says_something(field.default) else schema


def _says_something(default: Any) -> bool:
    """Return whether a model has to know it: it expects false, zero and nothing."""
    return isinstance(default, bool | int | float | str) and bool(default)


def _schema(annotation: Any) -> JsonObject:
    kind, marks = unmarked(annotation)
    for mark in marks:
        if isinstance(mark, Schema):
            return dict(mark.schema)
    schema = _plain_schema(kind)
    for mark in marks:
        schema |= _limits(mark, schema.get("type"))
    return schema


def _plain_schema(kind: Any) -> JsonObject:
    origin, args = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin in (Union, UnionType):
        kinds = [_schema(one) for one in args if one is not NoneType]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(args[0])}
    if origin is dict:
        return _mapping_schema(_schema(args[1]))
    return input_schema(kind) if isinstance(kind, type) and is_dataclass(kind) else {}


def _mapping_schema(member: JsonObject) -> JsonObject:
    return {"type": "object", "additionalProperties": member} if member else {"type": "object"}


def _limits(mark: object, kind: Json) -> JsonObject:
    match mark:
        case Limit():
            named = {"minimum": mark.ge, "maximum": mark.le, "exclusiveMinimum": mark.gt}
        case Length():
            suffix = "Length" if kind == "string" else "Items"
            named = {f"min{suffix}": mark.least or None, f"max{suffix}": mark.most}
        case Pattern():
            return {"pattern": f"^{mark.regex}$"}
        case OneOf():
            return {"enum": list(mark.known())}
        case _:
            return {}
    return {key: value for key, value in named.items() if value is not None}
