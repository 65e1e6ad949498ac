"""Lists of flat values as bytes, for the pipe between a session and its child process."""

import struct
from collections.abc import Callable, Sequence
from typing import Any

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
    return _PACKERS[type(value)](value)


def _packed_int(value: int) -> bytes:
    if -(1 << 62) < value < 1 << 62:
        return b"i" + _WHOLE.pack(value)
    return b"d" + _NUMBER.pack(float(value))


def _packed_text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"s" + _HEAD.pack(len(data)) + data


_PACKERS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"n",
    bool: lambda value: b"t" if value else b"f",
    int: _packed_int,
    float: lambda value: b"d" + _NUMBER.pack(value),
    bytes: lambda value: b"b" + _HEAD.pack(len(value)) + value,
    str: _packed_text,
}


def _unpacked(body: bytes, at: int) -> tuple[Flat, int]:
    kind = body[at]
    at += 1
    if kind in _TEXTS:
        start = at + HEAD
        end = start + int(_HEAD.unpack_from(body, at)[0])
        if end > len(body):
            raise ValueError("not a message")
        data = body[start:end]
        return (data if kind == _BYTES else data.decode("utf-8", "replace")), end
    if kind in _WORDS:
        return _WORDS[kind], at
    if kind == _INT:
        return int(_WHOLE.unpack_from(body, at)[0]), at + 8
    if kind == _FLOAT:
        return float(_NUMBER.unpack_from(body, at)[0]), at + 8
    raise ValueError("not a message")


_BYTES, _INT, _FLOAT = b"bid"
_TEXTS = frozenset(b"bs")
_WORDS: dict[int, Flat] = dict(zip(b"ntf", (None, True, False), strict=True))
