"""The routing headers of a request, and which arguments of a tool they repeat."""

from collections.abc import Iterator, Mapping

from ui_mcp.jsonrpc import messages
from ui_mcp.jsonrpc import routing_headers as routing
from ui_mcp.jsontypes import Json, JsonObject

HeaderMap = Mapping[tuple[str, ...], str]
"""Header names by the path of the argument that they carry."""


def request_headers(message: JsonObject, version: str, maps: Mapping[str, HeaderMap]) -> dict[str, str]:
    """Return the headers of a message; `version` is that of a handshake, `maps` those of the listed tools."""
    params: JsonObject = message.get("params") or {}
    modern = (params.get(messages.META) or {}).get(messages.VERSION_KEY)
    if not isinstance(modern, str):
        return {routing.VERSION: routing.encoded(version)} if version else {}
    method = message["method"]
    headers = {routing.VERSION: modern, routing.METHOD: method}
    name = params.get(routing.NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers[routing.NAME] = routing.encoded(name)
        if method == "tools/call" and name in maps:
            headers |= parameter_headers(maps[name], params.get("arguments") or {})
    return headers


def parameter_headers(paths: HeaderMap, arguments: JsonObject) -> dict[str, str]:
    """Return the arguments that the tool's schema wants as headers; those without a value have none."""
    given = ((token, routing.argument_text(routing.argument_at(arguments, path))) for path, token in paths.items())
    return {f"{routing.PARAMETER}{token}": routing.encoded(text) for token, text in given if text is not None}


def header_map(schema: JsonObject) -> HeaderMap:
    """Return the properties of a tool's input schema that are sent as headers.

    Raises:
        ValueError: one of them is marked in a way that the protocol forbids.
    """
    found: dict[tuple[str, ...], str] = {}
    for path, part in _parts(schema):
        if routing.ANNOTATION not in part:
            continue
        token = part[routing.ANNOTATION]
        where = ".".join(path or ("…",))
        if not path:
            raise ValueError(f"{routing.ANNOTATION} is at a place that is no property")
        if not isinstance(token, str) or not routing.TOKEN.fullmatch(token):
            raise ValueError(f"{routing.ANNOTATION} of {where} is no header name")
        if part.get("type") not in routing.ANNOTATED_TYPES:
            raise ValueError(f"{routing.ANNOTATION} of {where} needs the type string, integer or boolean")
        if token.lower() in {one.lower() for one in found.values()}:
            raise ValueError(f"{routing.ANNOTATION} of {where} is used twice")
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
