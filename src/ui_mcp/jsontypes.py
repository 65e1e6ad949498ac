"""The JSON types, named once, and the one way we write and read JSON text."""

from typing import Any

import orjson

Json = Any
JsonObject = dict[str, Any]


def dumps(value: Json) -> str:
    """Write compact UTF-8 JSON; NaN and infinities become null."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def loads(text: str | bytes) -> Json:
    """Read JSON text.

    Raises:
        ValueError: the text is not JSON.
    """
    return orjson.loads(text)
