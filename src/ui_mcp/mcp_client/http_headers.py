"""The headers by which the modern era repeats parts of a request, so that proxies can route it."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping

from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json, JsonObject

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MARK = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_PLAIN = re.compile(r"[\x20-\x7E]*")
_WRAPPED = re.compile(r"=\?base64\?.*\?=")
_MARKED_TYPES = ("string", "integer", "boolean")

HeaderMap = Mapping[tuple[str, ...], str]
"""Header names by the path of the argument that they carry."""


def request_headers(message: JsonObject, version: str, maps: Mapping[str, HeaderMap]) -> dict[str, str]:
    """Return the headers of a message; `version` is that of a handshake, `maps` those of the listed tools."""
    params: JsonObject = message.get("params") or {}
    modern = (params.get(messages.META) or {}).get(messages.VERSION_KEY)
    if not isinstance(modern, str):
        return {"mcp-protocol-version": encoded(version)} if version else {}
    method = message["method"]
    headers = {"mcp-protocol-version": modern, "mcp-method": method}
    name = params.get(_NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers["mcp-name"] = encoded(name)
        if method == "tools/call" and name in maps:
            headers |= parameter_headers(maps[name], params.get("arguments") or {})
    return headers


def encoded(value: str) -> str:
    """Return a header value; what would not survive as one is wrapped in base64."""
    if _PLAIN.fullmatch(value) and value == value.strip() and not _WRAPPED.fullmatch(value):
        return value
    return f"=?base64?{b64encode(value.encode('utf-8', 'replace')).decode()}?="


def parameter_headers(paths: HeaderMap, arguments: JsonObject) -> dict[str, str]:
    """Return the arguments that the tool's schema wants as headers; those without a value have none."""
    given = ((token, _text(_at(arguments, path))) for path, token in paths.items())
    return {f"mcp-param-{token}": encoded(text) for token, text in given if text is not None}


def header_map(schema: JsonObject) -> HeaderMap:
    """Return the properties of a tool's input schema that are sent as headers.

    Raises:
        ValueError: one of them is marked in a way that the protocol forbids.
    """
    found: dict[tuple[str, ...], str] = {}
    for path, part in _parts(schema):
        if _MARK not in part:
            continue
        token = part[_MARK]
        where = ".".join(path or ("…",))
        if not path:
            raise ValueError(f"{_MARK} is at a place that is no property")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise ValueError(f"{_MARK} of {where} is no header name")
        if part.get("type") not in _MARKED_TYPES:
            raise ValueError(f"{_MARK} of {where} needs the type string, integer or boolean")
        if token.lower() in {one.lower() for one in found.values()}:
            raise ValueError(f"{_MARK} of {where} is used twice")
        found[path] = token
    return found


_SINGLE = frozenset(
    {"items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties"}
    | {"not", "if", "then", "else", "contentSchema"}
)
_SEVERAL = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"patternProperties", "dependentSchemas", "$defs", "definitions"})


def _parts(schema: Json) -> Iterator[tuple[tuple[str, ...] | None, JsonObject]]:
    """Yield each part of a schema with its path of properties, or None where it is reached in another way."""
    left: list[tuple[tuple[str, ...] | None, Json]] = [((), schema)]
    while left:
        path, part = left.pop()
        if isinstance(part, dict):
            yield path, part
            for key, value in part.items():
                left.extend(_children(path, key, value))


def _children(path: tuple[str, ...] | None, key: str, value: Json) -> Iterator[tuple[tuple[str, ...] | None, Json]]:
    if key == "properties" and isinstance(value, dict):
        yield from (((*path, name) if path is not None else None, one) for name, one in value.items())
    elif key in _SINGLE:
        yield None, value
    elif key in _SEVERAL and isinstance(value, list):
        yield from ((None, one) for one in value)
    elif key in _NAMED and isinstance(value, dict):
        yield from ((None, one) for one in value.values())


def _at(arguments: Json, path: tuple[str, ...]) -> Json:
    for key in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(key)
    return arguments


def _text(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        return None
    try:
        return str(value)
    except ValueError:  # an integer with more digits than Python writes
        return None
