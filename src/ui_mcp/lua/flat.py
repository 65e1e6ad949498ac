"""Lists of flat values as bytes, for the pipe between a session and its child process.

Both ends are our own code in the same Python, so its own format will do; Lua fills strings and never writes the format.
"""

import marshal
import struct
from collections.abc import Sequence

Flat = str | bytes | int | float | bool | None

_HEAD = struct.Struct("<I")
_FORMAT = 2
"""The last version of the format that does not look for objects it has written before."""
_KINDS = frozenset({str, bytes, int, float, bool, type(None)})

HEAD = _HEAD.size
LIMIT = 1 << 30
"""Longest message either side believes."""

EXIT_OVERRUN = 70
"""How a child says that code could not be stopped in time."""
EXIT_OVERFULL = 71
"""How a child says that memory stayed above the cap."""


def pack(values: Sequence[Flat]) -> bytes:
    """Write a message with its length in front."""
    body = marshal.dumps(list(values), _FORMAT)
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
    try:
        values = marshal.loads(body)  # noqa: S302 — written by the other end of our own pipe
    except (EOFError, TypeError, MemoryError) as error:
        raise ValueError("not a message") from error
    if type(values) is not list or not _KINDS.issuperset(map(type, values)):
        raise ValueError("not a message")
    return values
