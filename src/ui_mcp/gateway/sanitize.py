"""Masks secrets; escapes control and bidi characters."""

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

_MIN = 4


class SecretMasker:
    """Replaces known secret values, wherever they turn up, and values of fields whose name says they are secret."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def add(self, values: Iterable[str]) -> None:
        """Remember secret values; very short ones would mask half the text and are not taken."""
        for value in values:
            if len(value) >= _MIN:
                self._known |= {value, quote(value, safe="")}

    def text(self, text: str) -> str:
        """Mask the known values in a text, longest first."""
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
        """Mask known values only; fields keep what they hold whatever their name."""
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
        """Say whether a text holds a known secret."""
        return any(value in text for value in self._known)


def is_secret(name: str, value: Json) -> bool:
    """Say whether a field is secret by its name."""
    return isinstance(value, str) and bool(value) and _SECRET_NAME.search(str(name)) is not None


def unmasked(value: Json, held: Json) -> Json:
    """Put held secrets back where a mask stands for them."""
    match value:
        case str() if value == MASK and isinstance(held, str):
            return held
        case dict() if isinstance(held, dict):
            return {key: unmasked(member, held.get(key)) for key, member in value.items()}
        case list() if isinstance(held, list) and len(held) == len(value):
            return [unmasked(member, other) for member, other in zip(value, held, strict=True)]
        case _:
            return value


def escape_control(text: str) -> str:
    """Write characters that show nothing, or change how others are shown, as escapes; line breaks stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter == "\n" or _shows(letter) else _escaped(letter) for letter in text)


def single_line(text: str, most: int = 200) -> str:
    """Make it plain, on one line and not too long: for names that a program gives itself."""
    return escape_control(text).replace("\n", " ")[:most]


def _shows(letter: str) -> bool:
    return letter.isprintable()


def _escaped(letter: str) -> str:
    number = ord(letter)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


MAX_DEPTH = 100
"""How deeply arguments may be nested; far below where the writers of JSON give up."""

MAX_FOREIGN_DEPTH = 200
"""How deeply what a mounted server lists or answers may be nested; it is written inside of something else."""


def require_json(arguments: Json) -> None:
    """Refuse arguments that could be neither compared nor written down.

    Raises:
        TooDeepError: they are nested too deeply.
        InvalidArgumentsError: they hold a value that is not JSON, such as a whole number beyond 64 bits.
    """
    if is_deeper(arguments, MAX_DEPTH):
        raise TooDeepError(f"arguments are nested too deeply (limit {MAX_DEPTH})")
    try:
        dumps(arguments)
    except TypeError as error:
        raise InvalidArgumentsError(f"arguments cannot be written as JSON: {error}") from error
