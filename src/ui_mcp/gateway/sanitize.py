"""Masks secrets, escapes control and bidi characters, and limits the nesting of JSON."""

import re
from collections.abc import Iterable
from urllib.parse import quote

from ui_mcp.errors import InvalidArgumentsError, TooDeepError
from ui_mcp.jsontypes import Json, dumps, is_deeper

MASK = "•••"

_SECRET_NAME = re.compile(
    r"(?:^|[_\-.])(?:token|secret|password|passwd|api[_-]?key|apikey|authorization|credential|private[_-]?key|cookie)s?$",
    re.IGNORECASE,
)

_MIN_SECRET_LENGTH = 4


class SecretMasker:
    """Masks known secret values in any text, and fields whose name says that they are secret."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def add(self, values: Iterable[str]) -> None:
        """Add secret values, also in their URL-encoded form; values under 4 characters are ignored."""
        for value in values:
            if len(value) >= _MIN_SECRET_LENGTH:  # shorter ones would mask ordinary text
                self._known |= {value, quote(value, safe="")}

    def text(self, text: str) -> str:
        """Mask the known values in a text, longest first."""
        # Longest first, because one secret may contain another.
        for value in sorted(self._known, key=len, reverse=True):
            if value in text:
                text = text.replace(value, MASK)
        return text

    def json(self, value: Json) -> Json:
        """Mask known values and secret fields in a JSON value."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {key: MASK if is_secret(key, member) else self.json(member) for key, member in value.items()}
            case list():
                return [self.json(member) for member in value]
            case _:
                return value

    def values(self, value: Json) -> Json:
        """Mask known values only; the names of fields do not matter."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {key: self.values(member) for key, member in value.items()}
            case list():
                return [self.values(member) for member in value]
            case _:
                return value

    def knows(self, text: str) -> bool:
        """Return whether a text contains a known secret."""
        return any(value in text for value in self._known)


def is_secret(name: str, value: Json) -> bool:
    """Return whether a field is secret by its name."""
    return isinstance(value, str) and bool(value) and _SECRET_NAME.search(str(name)) is not None


def unmasked(value: Json, original: Json) -> Json:
    """Return `value` with each mask replaced by the string at the same place in `original`."""
    match value:
        case str() if value == MASK and isinstance(original, str):
            return original
        case dict() if isinstance(original, dict):
            return {key: unmasked(member, original.get(key)) for key, member in value.items()}
        case list() if isinstance(original, list) and len(original) == len(value):
            return [unmasked(member, other) for member, other in zip(value, original, strict=True)]
        case _:
            return value


def escape_control(text: str) -> str:
    """Escape invisible, control and bidi characters in untrusted text, except line breaks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one == "\n" or one.isprintable() else _escaped(one) for one in text)


def single_line(text: str, max_length: int = 200) -> str:
    """Escape untrusted text and cut it to one line; for names that clients give themselves."""
    return escape_control(text).replace("\n", " ")[:max_length]


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


MAX_DEPTH = 100
"""How deeply arguments may be nested; far below the limit of JSON encoders."""

MAX_FOREIGN_DEPTH = 200
"""How deeply lists and results of a mounted server may be nested; they are embedded in other JSON."""


def require_json(arguments: Json) -> None:
    """Refuse arguments that can be neither compared nor encoded.

    Raises:
        TooDeepError: the arguments are nested too deeply.
        InvalidArgumentsError: they contain a value that is not JSON, such as an integer beyond 64 bits.
    """
    if is_deeper(arguments, MAX_DEPTH):
        raise TooDeepError(f"arguments are nested too deeply (limit {MAX_DEPTH})")
    try:
        dumps(arguments)
    except TypeError as error:
        raise InvalidArgumentsError(f"arguments cannot be written as JSON: {error}") from error
