"""Messages on the pipe between a session and its child process: flat values, with their length in front.

A child believes its parent, so questions are marshalled; what a child says is JSON, which can do no harm in the server.
"""

import json
import marshal
import struct
from collections.abc import Sequence

Scalar = str | bytes | int | float | bool | None
_HEAD = struct.Struct("<I")
_FORMAT = 2
"""The last version of marshal's format that does not look for what it has written before."""
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
HEAD = _HEAD.size
LIMIT = 1 << 30
"""Longest message either side believes."""

EXIT_OVERRUN = 70
"""How a child says that code could not be stopped in time."""
EXIT_OVERFULL = 71
"""How a child says that memory stayed above the cap."""


def encode_request(values: Sequence[Scalar]) -> bytes:
    """Write what a child is to do."""
    body = marshal.dumps(list(values), _FORMAT)
    return _HEAD.pack(len(body)) + body


def decode_request(body: bytes) -> list[Scalar]:
    """Read what the parent asks."""
    values: list[Scalar] = marshal.loads(body)  # noqa: S302 — nobody but the parent writes to a child
    return values


def encode_reply(values: Sequence[Scalar]) -> bytes:
    """Write what a child has to say; its numbers are finite."""
    body = _encode(values).encode("utf-8", "replace")
    return _HEAD.pack(len(body)) + body


def length(head: bytes | bytearray) -> int:
    """Read the length of the message that follows.

    Raises:
        ValueError: no message is that long.
    """
    (size,) = _HEAD.unpack(head)
    if size > LIMIT:
        raise ValueError(f"a message of {size} bytes")
    return int(size)
