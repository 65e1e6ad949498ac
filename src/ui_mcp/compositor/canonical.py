"""JSON of others, written in one way only so that equal values have equal digests, and limited in depth."""

from hashlib import sha256

from ui_mcp.errors import InvalidArgumentsError, TooDeepError
from ui_mcp.jsontypes import Json, dumps, is_deeper

MAX_DEPTH = 100
"""How deeply arguments may be nested; far below where the writers of JSON give up."""

MAX_FOREIGN_DEPTH = 200
"""How deeply what a mounted server lists or answers may be nested; it is written inside of something else."""


def canonical(value: Json) -> str:
    """Write JSON in one way only: sorted keys, no spaces, whole numbers without a fraction (RFC 8785)."""
    match value:
        case dict():
            members = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{dumps(key)}:{canonical(member)}" for key, member in members) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical(member) for member in value) + "]"
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case _:
            return dumps(value)


def digest(value: Json) -> str:
    """Return the SHA-256 of a value, as hexadecimal digits."""
    return sha256(canonical(value).encode()).hexdigest()


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
