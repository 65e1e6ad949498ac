"""JSON types, and encoding and decoding of JSON text."""

from hashlib import sha256
from typing import Any

import orjson

Json = Any
JsonObject = dict[str, Any]


def dumps(value: Json) -> str:
    """Return compact JSON; NaN and infinities become null."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def sorted_dumps(value: Json) -> str:
    """Return compact JSON with sorted keys, so that equal values have equal text."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS).decode()


def loads(text: str | bytes) -> Json:
    """Parse JSON text.

    Raises:
        ValueError: the text is not JSON.
    """
    return orjson.loads(text)


def is_deeper(value: Json, limit: int) -> bool:
    """Return whether objects and arrays are nested more than `limit` deep."""
    # Level by level, not recursive: the value may exceed Python's recursion limit.
    level = [value]
    for _ in range(limit):
        level = [
            member
            for one in level
            if isinstance(one, dict | list | tuple)
            for member in (one.values() if isinstance(one, dict) else one)
            if isinstance(member, dict | list | tuple)
        ]
        if not level:
            return False
    return True


def canonical(value: Json) -> str:
    """Return canonical JSON (RFC 8785): sorted keys, no spaces, whole numbers without a fraction."""
    match value:
        case dict():
            # RFC 8785 orders keys by UTF-16 code units.
            members = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{dumps(key)}:{canonical(member)}" for key, member in members) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical(member) for member in value) + "]"
        case float() if value.is_integer() and abs(value) < 2**53:  # larger floats are not exact integers
            return str(int(value))
        case _:
            return dumps(value)


def digest(value: Json) -> str:
    """Return the SHA-256 of the canonical JSON of a value, in hexadecimal."""
    return sha256(canonical(value).encode()).hexdigest()
