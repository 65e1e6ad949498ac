"""The JSON types, named once, and the one way we write and read JSON text."""

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
