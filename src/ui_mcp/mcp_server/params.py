"""What the parameters of each request must look like, as far as this server reads them."""

from typing import Any, NoReturn

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
# ends in "?" is optional, null counts as absent, and "*" stands for every member.
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
    "subscriptions/listen": {"notifications": {**_LISTS, "resourceSubscriptions?": [str]}},
}
_META = {"progressToken?": _TOKEN}
_ENVELOPE = {VERSION_KEY: str, CAPABILITIES_KEY: _CAPABILITIES, f"{CLIENT_KEY}?": _CLIENT, f"{LOG_LEVEL_KEY}?": _LEVEL}
_ANSWERS = {"inputResponses?": {"*": dict}, "requestState?": str}
_REQUESTS: dict[Era, dict[str, Shape]] = {
    "handshake": {name: {**one, f"{META}?": _META} for name, one in {**_EITHER_ERA, **_HANDSHAKE}.items()},
    "modern": {
        name: {**one, **_ANSWERS, META: {**_META, **_ENVELOPE}} for name, one in {**_EITHER_ERA, **_MODERN}.items()
    },
}


def check_params(method: str, params: JsonObject, era: Era) -> None:
    """Check the parameters of a request; those of methods that the specification does not define are free.

    Raises:
        RpcError: a parameter is missing or of the wrong form.
    """
    shape = _REQUESTS[era].get(method)
    if shape is not None:
        _check(params, shape, "params")


def is_of_era(method: str, era: Era) -> bool:
    """Return whether a method exists in an era; one that the specification does not define exists in both."""
    other: Era = "handshake" if era == "modern" else "modern"
    return method in _REQUESTS[era] or method not in _REQUESTS[other]


def _check(value: Json, shape: Shape, name: str) -> None:
    match shape:
        case dict():
            _check_object(value, shape, name)
        case [inner]:
            if not isinstance(value, list):
                _refuse(name, "must be a list")
            for item in value:
                _check(item, inner, f"{name}[]")
        case tuple():
            if not any(_fits(value, one, name) for one in shape):
                _refuse(name, "has none of the permitted forms")
        case frozenset():
            if not isinstance(value, str) or value not in shape:
                _refuse(name, f"must be one of: {', '.join(sorted(shape))}")
        case _:
            if not isinstance(value, shape) or (isinstance(value, bool) and shape is not bool):
                _refuse(name, f"must be of type {shape.__name__}")


def _check_object(value: Json, shape: dict[str, Shape], name: str) -> None:
    if not isinstance(value, dict):
        _refuse(name, "must be an object")
    for key, inner in shape.items():
        if key == "*":
            for member in value:
                _check(value[member], inner, f"{name}.{member}")
        elif key[-1] == "?":
            if (given := value.get(key[:-1])) is not None:
                _check(given, inner, f"{name}.{key[:-1]}")
        elif key in value:
            _check(value[key], inner, f"{name}.{key}")
        else:
            _refuse(f"{name}.{key}", "is missing")


def _fits(value: Json, shape: Shape, name: str) -> bool:
    try:
        _check(value, shape, name)
    except RpcError:
        return False
    return True


def _refuse(name: str, problem: str) -> NoReturn:
    # The value itself is left out: it may be large or secret.
    raise RpcError(INVALID_PARAMS, "Invalid request parameters", f"{name} {problem}")
