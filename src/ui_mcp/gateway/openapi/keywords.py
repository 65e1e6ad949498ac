"""Converts the schema keywords that hold no other schema, of any OpenAPI version, to JSON Schema 2020-12."""

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from ui_mcp.jsontypes import Json, JsonObject

Report = Callable[[str, str], None]
"""Reports a problem in the document: code, message."""

TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_TYPE_ALIASES = {
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "str": "string",
    "text": "string",
    "date": "string",
    "datetime": "string",
    "date-time": "string",
    "file": "string",
    "binary": "string",
    "uuid": "string",
    "list": "array",
    "map": "object",
    "dict": "object",
    "enum": "string",
}
"""Types that documents use although the standard does not have them."""
_TEXTS = ("title", "description", "format", "contentEncoding", "contentMediaType", "$comment")
_FLAGS = ("uniqueItems", "deprecated", "readOnly", "writeOnly")
_COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
_MAX_PATTERN = 4096
_BOUNDS = ("minimum", "maximum", "multipleOf")
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def plain_keywords(schema: Mapping[str, Json], report: Report) -> JsonObject:
    """Return the keywords that hold no other schema; wrong values are repaired or left out, and reported."""
    out: JsonObject = {}
    kind = _type(schema.get("type"), report)
    if kind is not None:
        out["type"] = kind
    for name in _TEXTS:
        if isinstance(schema.get(name), str):
            out[name] = schema[name]
    for name in _FLAGS:
        if schema.get(name) is True:
            out[name] = True
    out |= _numbers(schema, report)
    out |= _values(schema, report)
    if "enum" in out and isinstance(kind, str):
        out["enum"] = _typed_choices(out["enum"], kind, report)
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        if compiles(pattern):
            out["pattern"] = pattern
        else:
            report("bad_pattern", f"Pattern {pattern!r} does not compile and is left out")
    return out


def nullable(schema: Mapping[str, Json], out: JsonObject) -> JsonObject:
    """Translate `nullable` of OpenAPI 3.0 and `x-nullable` of 2.0, which 2020-12 writes as a type; changes `out`."""
    if schema.get("nullable") is not True and schema.get("x-nullable") is not True:
        return out
    if any(key in out for key in ("anyOf", "oneOf", "allOf", "$ref", "not", "const")):
        shown: JsonObject = {
            key: out.pop(key) for key in ("title", "description", "default", "deprecated") if key in out
        }
        return {**shown, "anyOf": [out, {"type": "null"}]}
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    kind = out.get("type")
    if isinstance(kind, str):
        out["type"] = [kind, "null"] if kind != "null" else kind
    elif isinstance(kind, list):
        out["type"] = kind if "null" in kind else [*kind, "null"]
    return out


@lru_cache(maxsize=4096)
def compiles(pattern: str) -> bool:
    """Return whether a pattern is a valid regular expression of acceptable length."""
    # It is only listed for clients, never matched here, so a slow pattern does no harm.
    if len(pattern) > _MAX_PATTERN:
        return False
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _type(kind: Json, report: Report) -> str | list[str] | None:
    if isinstance(kind, list):
        known = list(dict.fromkeys(found for part in kind if isinstance(found := _type(part, report), str)))
        return known if len(known) > 1 else (known[0] if known else None)
    if kind is None:
        return None
    if isinstance(kind, str) and kind in TYPES:
        return kind
    meant = _TYPE_ALIASES.get(kind.lower()) if isinstance(kind, str) else None
    if not isinstance(kind, str) or kind not in {"file", "any"}:  # both are common and harmless
        report("bad_type", f"Type {kind!r} is not known; treated as {meant or 'any type'}")
    return meant


def _numbers(schema: Mapping[str, Json], report: Report) -> JsonObject:
    out: JsonObject = {}
    for name in _COUNTS:
        if name in schema:
            size = number(schema[name])
            if size is not None and size >= 0 and size == int(size):
                out[name] = int(size)
            else:
                report("bad_bound", f"{name} {schema[name]!r} is left out")
    for name in (*_BOUNDS, *_EXCLUSIVE):
        if name not in schema or isinstance(schema[name], bool):
            continue
        bound = number(schema[name])
        if bound is None or (name == "multipleOf" and bound <= 0):
            report("bad_bound", f"{name} {schema[name]!r} is left out")
        else:
            out[name] = bound
    # Up to OpenAPI 3.0 `exclusiveMinimum: true` modifies `minimum`; in 2020-12 it is the bound itself.
    for exclusive, inclusive in _EXCLUSIVE.items():
        if schema.get(exclusive) is True and inclusive in out:
            out[exclusive] = out.pop(inclusive)
    return out


def _values(schema: Mapping[str, Json], report: Report) -> JsonObject:
    out: JsonObject = {}
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        out["enum"] = choices
    elif choices is not None:
        report("bad_enum", "An empty enum allows nothing and is left out")
    out |= {name: schema[name] for name in ("const", "default") if name in schema}
    required = schema.get("required")
    if isinstance(required, list):
        names = list(dict.fromkeys(name for name in required if isinstance(name, str)))
        if names:
            out["required"] = names
    dependent = schema.get("dependentRequired")
    if isinstance(dependent, dict):
        out["dependentRequired"] = {
            key: [name for name in names if isinstance(name, str)]
            for key, names in dependent.items()
            if isinstance(names, list)
        }
    return out


def _typed_choices(choices: list[Json], kind: str, report: Report) -> list[Json]:
    """Return the choices as values of the type: YAML reads an unquoted `1` or `true` as something else than text."""
    typed = [_as_type(choice, kind) for choice in choices]
    if typed != choices or list(map(type, typed)) != list(map(type, choices)):
        report("bad_enum", f"Choices of another type than {kind} are read as {kind}")
    return typed


def _as_type(choice: Json, kind: str) -> Json:
    if kind == "string" and isinstance(choice, bool):
        return "true" if choice else "false"
    if kind == "string" and isinstance(choice, int | float):
        return str(choice)
    if kind in {"integer", "number"} and isinstance(choice, str):
        found = number(choice)
        return choice if found is None else int(found) if found == int(found) else found
    if kind == "boolean" and isinstance(choice, str) and choice.lower() in {"true", "false"}:
        return choice.lower() == "true"
    return choice


def number(value: Json) -> float | int | None:
    """Return a finite number, also one written as text; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return found if math.isfinite(found) else None
