"""The plain keywords of a schema, whatever version wrote them, as JSON Schema 2020-12 wants them."""

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from ui_mcp.jsontypes import Json, JsonObject

Report = Callable[[str, str], None]
"""Notes an oddity: code, message."""

TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_MEANT = {
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
_TEXTS = ("title", "description", "format", "contentEncoding", "contentMediaType", "$comment")
_FLAGS = ("uniqueItems", "deprecated", "readOnly", "writeOnly")
_SIZES = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
_LONGEST_PATTERN = 4096
_BOUNDS = ("minimum", "maximum", "multipleOf")
_SHRINK = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def plain_keywords(schema: Mapping[str, Json], tell: Report) -> JsonObject:
    """Return every keyword that holds no other schema, mended or left out."""
    out: JsonObject = {}
    kind = _type(schema.get("type"), tell)
    if kind is not None:
        out["type"] = kind
    for name in _TEXTS:
        if isinstance(schema.get(name), str):
            out[name] = schema[name]
    for name in _FLAGS:
        if schema.get(name) is True:
            out[name] = True
    out |= _numbers(schema, tell)
    out |= _values(schema, tell)
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        if compiles(pattern):
            out["pattern"] = pattern
        else:
            tell("bad_pattern", f"Pattern {pattern!r} does not compile and is left out")
    return out


def nullable(schema: Mapping[str, Json], out: JsonObject) -> JsonObject:
    """Let `null` through where an older version said so beside the type."""
    if schema.get("nullable") is not True and schema.get("x-nullable") is not True:
        return out
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    kind = out.get("type")
    if isinstance(kind, str):
        out["type"] = [kind, "null"] if kind != "null" else kind
    elif isinstance(kind, list):
        out["type"] = kind if "null" in kind else [*kind, "null"]
    elif "enum" not in out and any(key in out for key in ("anyOf", "oneOf", "allOf", "$ref")):
        shown: JsonObject = {
            key: out.pop(key) for key in ("title", "description", "default", "deprecated") if key in out
        }
        return {**shown, "anyOf": [out, {"type": "null"}]}
    return out


@lru_cache(maxsize=4096)
def compiles(pattern: str) -> bool:
    """Say whether a pattern is one we can list; nothing is ever matched against it here."""
    if len(pattern) > _LONGEST_PATTERN:
        return False
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _type(kind: Json, tell: Report) -> str | list[str] | None:
    if isinstance(kind, list):
        known = list(dict.fromkeys(found for part in kind if isinstance(found := _type(part, tell), str)))
        return known if len(known) > 1 else (known[0] if known else None)
    if kind is None:
        return None
    if isinstance(kind, str) and kind in TYPES:
        return kind
    meant = _MEANT.get(kind.lower()) if isinstance(kind, str) else None
    if not isinstance(kind, str) or kind not in {"file", "any"}:
        tell("bad_type", f"Type {kind!r} is not known; taken as {meant or 'anything'}")
    return meant


def _numbers(schema: Mapping[str, Json], tell: Report) -> JsonObject:
    out: JsonObject = {}
    for name in _SIZES:
        if name in schema:
            size = number(schema[name])
            if size is not None and size >= 0 and size == int(size):
                out[name] = int(size)
            else:
                tell("bad_bound", f"{name} {schema[name]!r} is left out")
    for name in (*_BOUNDS, *_SHRINK):
        if name not in schema or isinstance(schema[name], bool):
            continue
        bound = number(schema[name])
        if bound is None or (name == "multipleOf" and bound <= 0):
            tell("bad_bound", f"{name} {schema[name]!r} is left out")
        else:
            out[name] = bound
    for exclusive, inclusive in _SHRINK.items():
        if schema.get(exclusive) is True and inclusive in out:
            out[exclusive] = out.pop(inclusive)
    return out


def _values(schema: Mapping[str, Json], tell: Report) -> JsonObject:
    out: JsonObject = {}
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        out["enum"] = choices
    elif choices is not None:
        tell("bad_enum", "An empty enum allows nothing and is left out")
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


def number(value: Json) -> float | int | None:
    """Read a finite number, also one written as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return found if math.isfinite(found) else None
