"""The JSON types, named once, and the one way we write and read JSON text."""

from hashlib import sha256
from typing import Any

import orjson

Json = Any
JsonObject = dict[str, Any]


def dumps(value: Json) -> str:
    """Write compact UTF-8 JSON; NaN and infinities become null."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def sorted_dumps(value: Json) -> str:
    """Write compact JSON with the keys of objects in order, so that equal values are written equally."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS).decode()


def loads(text: str | bytes) -> Json:
    """Read JSON text.

    Raises:
        ValueError: the text is not JSON.
    """
    return orjson.loads(text)


def is_deeper(value: Json, limit: int) -> bool:
    """Say whether objects and arrays are nested more than `limit` deep; works for any depth."""
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
    """Write JSON in one way only: sorted keys, no spaces, whole numbers without a fraction (RFC 8785)."""
    match value:
        case dict():
            members = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{dumps(key)}:{canonical(member)}" for key, member in members) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical(member) for member in value) + "]"
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case _:
            return dumps(value)


def digest(value: Json) -> str:
    """Return the SHA-256 of a value, as hexadecimal digits."""
    return sha256(canonical(value).encode()).hexdigest()
