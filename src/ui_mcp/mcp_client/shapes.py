"""The types of the fields that MCP defines for lists and content; fields that it does not define are not checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ui_mcp.jsontypes import Json

Check = Callable[[Json], bool]


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of an object: those that it must have, and those that it may have or have as null."""

    needed: Mapping[str, Check]
    optional: Mapping[str, Check]

    def wrong(self, value: Mapping[str, Json]) -> list[str]:
        """Return the names of the fields that are missing or have another type, those that are needed first."""
        missing = [key for key, fits in self.needed.items() if not fits(value.get(key))]
        return missing + [
            key for key, fits in self.optional.items() if value.get(key) is not None and not fits(value[key])
        ]

    def fits(self, value: Json) -> bool:
        return isinstance(value, dict) and not self.wrong(value)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


def is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_size(value: Json) -> bool:
    """Return whether a value is a number of things or bytes."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(one) for one in value)


_META = {"_meta": _is_object}
_NAMED = {"title": _is_text, "description": _is_text}
_ICON = Shape({"src": _is_text}, {"mimeType": _is_text, "sizes": _list_of(_is_text), "theme": _is_text})
_ICONS = {"icons": _list_of(_ICON.fits)}
_REMARKS = {
    "annotations": Shape({}, {"audience": _list_of(_is_text), "priority": is_number, "lastModified": _is_text}).fits
}
_HINTS = Shape(
    {},
    {
        "title": _is_text,
        "readOnlyHint": _is_flag,
        "destructiveHint": _is_flag,
        "idempotentHint": _is_flag,
        "openWorldHint": _is_flag,
    },
)
_ARGUMENT = Shape({"name": _is_text}, {**_NAMED, "required": _is_flag})
_ABOUT = {**_NAMED, "mimeType": _is_text, **_ICONS, **_REMARKS, **_META}

TOOL = Shape(
    {"name": _is_text, "inputSchema": _is_object},
    {**_NAMED, "execution": _is_object, "outputSchema": _is_object, **_ICONS, "annotations": _HINTS.fits, **_META},
)
RESOURCE = Shape({"uri": _is_text, "name": _is_text}, {**_ABOUT, "size": is_number})
TEMPLATE = Shape({"uriTemplate": _is_text, "name": _is_text}, _ABOUT)
PROMPT = Shape({"name": _is_text}, {**_NAMED, "arguments": _list_of(_ARGUMENT.fits), **_ICONS, **_META})

_ABOUT_CONTENT = {"mimeType": _is_text, **_META}
_TEXT_RESOURCE = Shape({"uri": _is_text, "text": _is_text}, _ABOUT_CONTENT)
_BLOB_RESOURCE = Shape({"uri": _is_text, "blob": _is_text}, _ABOUT_CONTENT)
_MEDIA = Shape({"data": _is_text, "mimeType": _is_text}, {**_REMARKS, **_META})
CONTENT: Mapping[str, Shape] = {
    "text": Shape({"text": _is_text}, {**_REMARKS, **_META}),
    "image": _MEDIA,
    "audio": _MEDIA,
    "resource_link": RESOURCE,
    "resource": Shape(
        {"resource": lambda value: _TEXT_RESOURCE.fits(value) or _BLOB_RESOURCE.fits(value)}, {**_REMARKS, **_META}
    ),
}
"""Content blocks by their type."""


def _is_message(value: Json) -> bool:
    if not isinstance(value, dict) or value.get("role") not in {"user", "assistant"}:
        return False
    block = value.get("content")
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and (kind not in CONTENT or CONTENT[kind].fits(block))


PROMPT_RESULT = Shape({"messages": _list_of(_is_message)}, {"description": _is_text, **_META})
