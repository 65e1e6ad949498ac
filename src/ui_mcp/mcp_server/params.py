"""What the parameters of each request must look like, as far as this server reads them."""

from typing import Any

from ui_mcp.jsonrpc.messages import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    INVALID_PARAMS,
    LOG_LEVEL_KEY,
    META,
    VERSION_KEY,
    RpcError,
)
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.announcements import LOG_LEVELS
from ui_mcp.toolkit.tool import Era

# A shape is a type, a set of permitted texts, a list of one shape, a tuple of alternatives, or an object: a name that
# ends in "?" may be absent or null, one that ends in "!" absent but not null, and "*" stands for every member.
Shape = Any
_LEVEL = frozenset(LOG_LEVELS)
_TOKEN = (str, int)
_PAGE = {"cursor?": str}
_CLIENT = {"name": str, "version": str}
_CAPABILITIES = {
    "elicitation?": {"form?": dict, "url?": dict},
    "experimental?": {"*": dict},
    "extensions?": {"*": dict},
    "roots?": dict,
    "sampling?": dict,
}
_LISTS = {"toolsListChanged?": bool, "promptsListChanged?": bool, "resourcesListChanged?": bool}
_PROMPT = {"type": frozenset({"ref/prompt"}), "name": str}
_TEMPLATE = {"type": frozenset({"ref/resource"}), "uri": str}
_EITHER_ERA: dict[str, Shape] = {
    "tools/list": _PAGE,
    "tools/call": {"name": str, "arguments?": dict},
    "resources/list": _PAGE,
    "resources/templates/list": _PAGE,
    "resources/read": {"uri": str},
    "prompts/list": _PAGE,
    "prompts/get": {"name": str, "arguments?": {"*": str}},
    "completion/complete": {
        "ref": (_PROMPT, _TEMPLATE),
        "argument": {"name": str, "value": str},
        "context?": {"arguments?": {"*": str}},
    },
}
_HANDSHAKE: dict[str, Shape] = {
    "initialize": {"protocolVersion": str, "capabilities": _CAPABILITIES, "clientInfo": _CLIENT},
    "ping": {},
    "resources/subscribe": {"uri": str},
    "resources/unsubscribe": {"uri": str},
    "logging/setLevel": {"level": _LEVEL},
}
_MODERN: dict[str, Shape] = {
    "server/discover": {},
    "subscriptions/listen": {"notifications": {**_LISTS, "resourceSubscriptions?": [str], "taskIds?": [str]}},
    "tasks/get": {"taskId": str},
    "tasks/update": {"taskId": str, "inputResponses": {"*": dict}},
    "tasks/cancel": {"taskId": str},
}
_META = {"progressToken!": _TOKEN}
_ENVELOPE = {VERSION_KEY: str, CAPABILITIES_KEY: _CAPABILITIES, f"{CLIENT_KEY}?": _CLIENT, f"{LOG_LEVEL_KEY}?": _LEVEL}
_ANSWERS = {"inputResponses?": {"*": dict}, "requestState?": str}
_REQUESTS: dict[Era, dict[str, Shape]] = {
    "handshake": {name: {**one, f"{META}?": _META} for name, one in {**_EITHER_ERA, **_HANDSHAKE}.items()},
    "modern": {
        name: {**_ANSWERS, **one, META: {**_META, **_ENVELOPE}} for name, one in {**_EITHER_ERA, **_MODERN}.items()
    },
}


def check_params(method: str, params: JsonObject, era: Era) -> None:
    """Check the parameters of a request; those of methods that the specification does not define are free.

    Raises:
        RpcError: a parameter is missing or of the wrong form.
    """
    shape = _REQUESTS[era].get(method)
    problem = _problem(params, shape) if shape is not None else None
    if problem is not None:
        # The value itself is left out: it may be large or secret.
        raise RpcError(INVALID_PARAMS, "Invalid request parameters", f"params{problem}")


def is_of_era(method: str, era: Era) -> bool:
    """Return whether a method exists in an era; one that the specification does not define exists in both."""
    other: Era = "handshake" if era == "modern" else "modern"
    return method in _REQUESTS[era] or method not in _REQUESTS[other]


def _problem(value: Json, shape: Shape) -> str | None:
    """Return where in a value what is wrong, None if it has the shape."""
    if isinstance(shape, type):
        fits = isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
        return None if fits else f" must be of type {shape.__name__}"
    match shape:
        case dict():
            return _object_problem(value, shape) if isinstance(value, dict) else " must be an object"
        case [inner]:
            if not isinstance(value, list):
                return " must be a list"
            return next((f"[]{found}" for item in value if (found := _problem(item, inner))), None)
        case tuple():
            fits = any(_problem(value, one) is None for one in shape)
            return None if fits else " has none of the permitted forms"
        case _:
            fits = isinstance(value, str) and value in shape
            return None if fits else f" must be one of: {', '.join(sorted(shape))}"


def _object_problem(value: JsonObject, shape: dict[str, Shape]) -> str | None:
    for key, inner in shape.items():
        if key == "*":
            found = next((f".{name}{found}" for name, one in value.items() if (found := _problem(one, inner))), None)
            if found:
                return found
            continue
        name, optional = (key[:-1], key[-1]) if key[-1] in "?!" else (key, "")
        if name not in value:
            if not optional:
                return f".{name} is missing"
        elif (given := value[name]) is not None or optional != "?":
            found = _problem(given, inner)
            if found:
                return f".{name}{found}"
    return None
