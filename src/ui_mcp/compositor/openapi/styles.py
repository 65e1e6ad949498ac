"""Writes parameter values the way OpenAPI's styles say, byte for byte (RFC 6570 rules)."""

from urllib.parse import quote

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi.payload import ArrayFormat, _raw_items, nested, text
from ui_mcp.jsontypes import Json

_RESERVED = ":/?@!$'()*,;="

_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}


def in_path(name: str, value: Json, style: str, *, explode: bool, slashes: bool = False) -> str:
    """Write a path value in style `simple`, `label` or `matrix`."""
    safe = "/" if slashes else ""
    key = quote(name, safe="")
    if style == "matrix":
        return _matrix(key, value, safe, explode=explode)
    lead, join = (".", "." if explode else ",") if style == "label" else ("", ",")
    return lead + join.join(_items(value, safe, explode=explode))


def in_query(name: str, value: Json, style: str, *, explode: bool, reserved: bool, arrays: ArrayFormat) -> list[str]:
    """Write a query value as `key=value` texts, already encoded."""
    safe = _RESERVED if reserved else ""
    key = quote(name, safe="")
    if style == "deepObject" and isinstance(value, dict | list):
        return [f"{quote(path, safe='')}={quote(part, safe=safe)}" for path, part in nested(name, value, arrays)]
    if not isinstance(value, dict | list):
        return [f"{key}={quote(text(value), safe=safe)}"]
    if style in _DELIMITERS and not (explode and isinstance(value, list)):
        return [f"{key}={_DELIMITERS[style].join(_items(value, safe, explode=False))}"]
    if not explode:
        return [f"{key}={','.join(_items(value, safe, explode=False))}"]
    if isinstance(value, list):
        return [f"{key}={item}" for item in _items(value, safe, explode=True)]
    return _items(value, safe, explode=True)


def in_header(name: str, value: Json, *, explode: bool) -> str:
    """Write a header value in style `simple`.

    Raises:
        InvalidArgumentsError: it would break the header apart.
    """
    written = ",".join(_raw_items(value, explode=explode))
    if any(mark in written for mark in "\r\n\0"):
        raise InvalidArgumentsError(f"{name}: a header value may not contain line breaks or NUL")
    return written


def in_cookie(name: str, value: Json) -> str:
    """Write a cookie; commas between parts are encoded, because a cookie value may not hold them."""
    return f"{quote(name, safe='')}={quote(','.join(_raw_items(value, explode=False)), safe='')}"


def _matrix(key: str, value: Json, safe: str, *, explode: bool) -> str:
    if not isinstance(value, dict | list):
        written = quote(text(value), safe=safe)
        return f";{key}={written}" if written else f";{key}"
    items = _items(value, safe, explode=explode)
    if not explode:
        return f";{key}={','.join(items)}"
    return "".join(f";{item}" if isinstance(value, dict) else f";{key}={item}" for item in items)


def _items(value: Json, safe: str, *, explode: bool) -> list[str]:
    match value:
        case dict():
            pairs = [(quote(str(key), safe=safe), quote(text(member), safe=safe)) for key, member in value.items()]
            return (
                [f"{key}={member}" for key, member in pairs] if explode else [part for pair in pairs for part in pair]
            )
        case list():
            return [quote(text(member), safe=safe) for member in value if member is not None]
        case _:
            return [quote(text(value), safe=safe)]
