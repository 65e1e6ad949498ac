"""Containers for moving pictures, from frames that a browser has encoded: animated WebP, and WebM with VP9; pure."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

CODEC = "V_VP9"
_SIMPLE_BLOCK_KEY = 0x80
_ANIMATED, _TRANSPARENT = 0x02, 0x10


@dataclass(frozen=True, slots=True)
class Patch:
    """A part of the picture that changes, transparent where it does not, as a still WebP; shown for so long."""

    x: int
    y: int
    width: int
    height: int
    still: bytes
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """An encoded frame of a video."""

    milliseconds: int
    """Since the beginning."""
    is_key: bool
    data: bytes


def webp(size: tuple[int, int], patches: Sequence[Patch]) -> bytes:
    """Put still pictures, each over what was shown before, into one that moves and plays for ever."""
    extended = _riff(b"VP8X", struct.pack("<B3x", _ANIMATED | _TRANSPARENT) + _three(size[0] - 1) + _three(size[1] - 1))
    head = _riff(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0))
    frames = b"".join(_riff(b"ANMF", _place(patch) + _bitmap(patch.still)) for patch in patches)
    return _riff(b"RIFF", b"WEBP" + extended + head + frames)


def _place(patch: Patch) -> bytes:
    """Return the head of a frame; offsets are counted in twos."""
    numbers = (patch.x // 2, patch.y // 2, patch.width - 1, patch.height - 1, patch.milliseconds)
    return b"".join(map(_three, numbers)) + b"\0"  # blended: what was there is seen where the patch is transparent


def _bitmap(still: bytes) -> bytes:
    """Return the chunk with the pixels of a still picture, without profiles and the like."""
    at = 12
    while still[at : at + 4] not in {b"VP8 ", b"VP8L"}:
        at += 8 + (size := struct.unpack("<I", still[at + 4 : at + 8])[0]) + size % 2
    size = struct.unpack("<I", still[at + 4 : at + 8])[0]
    return still[at : at + 8 + size + size % 2]


def _riff(name: bytes, data: bytes) -> bytes:
    """Return a chunk of a RIFF file, padded to an even length."""
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _three(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def webm(size: tuple[int, int], chunks: Sequence[Chunk], milliseconds: int) -> bytes:
    """Put the frames of a video into a file that can be played and searched; each key frame begins a cluster."""
    clusters = _clusters(chunks)
    about = _element(0x1549A966, _number(0x2AD7B1, 1_000_000), _element(0x4489, struct.pack(">d", milliseconds)),
                     _text(0x4D80, "ui-mcp"), _text(0x5741, "ui-mcp"))  # fmt: skip
    video = _element(0xE0, _number(0xB0, size[0]), _number(0xBA, size[1]))
    track = _element(0xAE, _number(0xD7, 1), _number(0x73C5, 1), _number(0x83, 1), _text(0x86, CODEC), video)
    tracks = _element(0x1654AE6B, track)
    starts = [group[0].milliseconds for group in clusters]
    bodies = [_cluster(group) for group in clusters]
    first = len(about) + len(tracks) + len(_cues(starts, [0] * len(starts)))  # places have a fixed width
    places = [first + sum(map(len, bodies[:number])) for number in range(len(bodies))]
    segment = _element(0x18538067, about, tracks, _cues(starts, places), *bodies)
    return _element(0x1A45DFA3, _text(0x4282, "webm"), _number(0x4287, 4), _number(0x4285, 2)) + segment


def _clusters(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    groups: list[list[Chunk]] = []
    for chunk in chunks:
        if chunk.is_key or not groups:
            groups.append([])
        groups[-1].append(chunk)
    return groups


def _cluster(group: Sequence[Chunk]) -> bytes:
    start = group[0].milliseconds
    blocks = (_element(0xA3, _block_head(one.milliseconds - start, is_key=one.is_key), one.data) for one in group)
    return _element(0x1F43B675, _number(0xE7, start), *blocks)


def _block_head(after: int, *, is_key: bool) -> bytes:
    return b"\x81" + struct.pack(">hB", after, is_key * _SIMPLE_BLOCK_KEY)


def _cues(starts: Sequence[int], places: Sequence[int]) -> bytes:
    """Return where each cluster begins, counted from the beginning of the segment's contents."""
    points = (
        _element(0xBB, _number(0xB3, start), _element(0xB7, _number(0xF7, 1), _number(0xF1, place)))
        for start, place in zip(starts, places, strict=True)
    )
    return _element(0x1C53BB6B, *points)


def _element(name: int, *parts: bytes) -> bytes:
    """Return an EBML element with its length in eight bytes."""
    data = b"".join(parts)
    return name.to_bytes((name.bit_length() + 7) // 8, "big") + (len(data) | 1 << 56).to_bytes(8, "big") + data


def _number(name: int, value: int) -> bytes:
    return _element(name, value.to_bytes(8, "big"))


def _text(name: int, value: str) -> bytes:
    return _element(name, value.encode())
