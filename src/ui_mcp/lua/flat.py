"""Lists of flat values as bytes, for the pipe between a session and its child process."""

import struct
from collections.abc import Sequence

Flat = str | bytes | int | float | bool | None

_HEAD = struct.Struct("<I")
_NUMBER = struct.Struct("<d")
_WHOLE = struct.Struct("<q")

HEAD = _HEAD.size
LIMIT = 1 << 30
"""Longest message either side believes."""

EXIT_OVERRUN = 70
"""How a child says that code could not be stopped in time."""
EXIT_OVERFULL = 71
"""How a child says that memory stayed above the cap."""


def pack(values: Sequence[Flat]) -> bytes:
    """Write a message with its length in front."""
    body = b"".join(map(_packed, values))
    return _HEAD.pack(len(body)) + body


def length(head: bytes) -> int:
    """Read the length of the message that follows.

    Raises:
        ValueError: no message is that long.
    """
    (size,) = _HEAD.unpack(head)
    if size > LIMIT:
        raise ValueError(f"a message of {size} bytes")
    return int(size)


def unpack(body: bytes) -> list[Flat]:
    """Read the values of a message.

    Raises:
        ValueError: the bytes are not a message.
    """
    values: list[Flat] = []
    at = 0
    try:
        while at < len(body):
            value, at = _unpacked(body, at)
            values.append(value)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError("not a message") from error
    return values


def _packed(value: Flat) -> bytes:
    match value:
        case None:
            return b"n"
        case True:
            return b"t"
        case False:
            return b"f"
        case int() if -(1 << 62) < value < 1 << 62:
            return b"i" + _WHOLE.pack(value)
        case int() | float():
            return b"d" + _NUMBER.pack(float(value))
        case bytes():
            return b"b" + _HEAD.pack(len(value)) + value
        case _:
            data = value.encode("utf-8", "surrogatepass")
            return b"s" + _HEAD.pack(len(data)) + data


def _unpacked(body: bytes, at: int) -> tuple[Flat, int]:
    kind = body[at : at + 1]
    at += 1
    if kind in _WORDS:
        return _WORDS[kind], at
    if kind == b"i":
        return int(_WHOLE.unpack_from(body, at)[0]), at + 8
    if kind == b"d":
        return float(_NUMBER.unpack_from(body, at)[0]), at + 8
    end = at + HEAD + length(body[at : at + HEAD])
    data = body[at + HEAD : end]
    if kind not in {b"b", b"s"} or len(body) < end:
        raise ValueError("not a message")
    return (data if kind == b"b" else data.decode("utf-8", "replace")), end


_WORDS: dict[bytes, Flat] = {b"n": None, b"t": True, b"f": False}
