"""HTTP headers by which the modern era repeats parts of a request, so that proxies can route it without its body."""

import re
from base64 import b64decode, b64encode
from types import MappingProxyType

from ui_mcp.jsontypes import Json

VERSION, METHOD, NAME = "mcp-protocol-version", "mcp-method", "mcp-name"
PARAMETER = "mcp-param-"
ANNOTATION = "x-mcp-header"
"""In a tool's schema: the parameter is repeated as a header of this name after `Mcp-Param-`."""
ANNOTATED_TYPES = ("string", "integer", "boolean")
TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
NAMED_BY = MappingProxyType(
    {
        "tools/call": "name",
        "prompts/get": "name",
        "resources/read": "uri",
        **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
    }
)
"""The parameter that `Mcp-Name` repeats, by method."""

Path = tuple[str, ...]
"""The properties that lead to an argument."""
_PLAIN = re.compile(r"[\x20-\x7E]*")
_WRAPPED = re.compile(r"=\?base64\?(.*)\?=")


def encoded(value: str) -> str:
    """Return a header value; what would not survive as one is wrapped in base64."""
    if _PLAIN.fullmatch(value) and value == value.strip() and not _WRAPPED.fullmatch(value):
        return value
    return f"=?base64?{b64encode(value.encode('utf-8', 'replace')).decode()}?="


def decoded(header: str | None) -> str | None:
    """Return the value of a header; None if it is absent, or base64 that no client would write."""
    wrapped = _WRAPPED.fullmatch(header) if header is not None else None
    if wrapped is None:
        return header
    try:
        value = b64decode(wrapped[1], validate=True)
        # Base64 has several spellings of one value, and a proxy may compare the text: only the usual one counts.
        return value.decode() if b64encode(value).decode() == wrapped[1] else None
    except ValueError:
        return None


def argument_at(arguments: Json, path: Path) -> Json:
    """Return the argument at a path of properties; None if there is none."""
    for key in path:
        arguments = arguments.get(key) if isinstance(arguments, dict) else None
    return arguments


def argument_text(value: Json) -> str | None:
    """Return an argument as it is written into a header; None if it has no such form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, str | int | float) else None
    except ValueError:  # an integer with more digits than Python writes
        return None
