"""Messages on the pipe between the server and a worker process: scalars, prefixed with their length.

Requests are marshalled, because a worker trusts the server. Replies are JSON, which is safe to decode from an untrusted
worker.
"""

import json
import marshal
import struct
from collections.abc import Sequence

Scalar = str | bytes | int | float | bool | None
_HEAD = struct.Struct("<I")
_FORMAT = 2
"""Marshal version without tracking of repeated objects, which later versions spend time on."""
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
HEAD = _HEAD.size
LIMIT = 1 << 30
"""Longest message in bytes that either side accepts."""

EXIT_OVERRUN = 70
"""Exit status of a worker whose code could not be stopped in time."""
EXIT_OVERFULL = 71
"""Exit status of a worker whose memory stayed above the limit."""


def encode_request(values: Sequence[Scalar]) -> bytes:
    body = marshal.dumps(list(values), _FORMAT)
    return _HEAD.pack(len(body)) + body


def decode_request(body: bytes) -> list[Scalar]:
    values: list[Scalar] = marshal.loads(body)  # noqa: S302 — only the server writes to this pipe
    return values


def encode_reply(values: Sequence[Scalar]) -> bytes:
    """Encode a reply; its numbers must be finite."""
    body = _encode(values).encode("utf-8", "replace")
    return _HEAD.pack(len(body)) + body


def length(head: bytes | bytearray) -> int:
    """Decode the length of the message that follows.

    Raises:
        ValueError: it is above the limit.
    """
    (size,) = _HEAD.unpack(head)
    if size > LIMIT:
        raise ValueError(f"a message of {size} bytes")
    return int(size)
