"""The containers of recordings, read back piece by piece."""

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from film import coarser, keep, lengths_of
from media import is_wanted
from moving_pictures import Chunk, Patch, webm, webp


def still(pixels: bytes) -> bytes:
    """A still WebP with a profile that does not belong into a moving one."""
    chunks = b"ICCP" + struct.pack("<I", 3) + b"abc\0" + b"VP8 " + struct.pack("<I", len(pixels)) + pixels
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def test_a_moving_picture_has_each_patch_at_its_place_for_its_time() -> None:
    patches = [Patch(0, 0, 20, 10, still(b"first!"), 400), Patch(4, 2, 6, 8, still(b"second"), 70_000)]
    made = webp((20, 10), patches)
    _, second = made.split(b"ANMF")[1:]
    numbers = [int.from_bytes(second[at : at + 3], "little") for at in range(4, 19, 3)]

    assert made[:4] + made[8:16] == b"RIFFWEBPVP8X"
    assert struct.unpack("<I", made[4:8])[0] == len(made) - 8
    assert numbers == [2, 1, 5, 7, 70_000]
    assert second[20:].startswith(b"VP8 ")
    assert b"ICCP" not in made


def elements(data: bytes) -> list[tuple[int, bytes]]:
    """Split EBML in which each length has eight bytes."""
    found = []
    while data:
        size = next(count for count in range(1, 5) if data[0] & (0x80 >> (count - 1)))
        length = int.from_bytes(data[size + 1 : size + 8], "big")
        found.append((int.from_bytes(data[:size], "big"), data[size + 8 : size + 8 + length]))
        data = data[size + 8 + length :]
    return found


def test_a_film_begins_a_cluster_with_each_key_frame_and_says_where() -> None:
    chunks = [Chunk(0, True, b"key"), Chunk(200, False, b"next"), Chunk(16_000, True, b"again")]
    _, (_, segment) = elements(webm((960, 600), chunks, 20_000))
    parts = elements(segment)
    clusters = [elements(data) for name, data in parts if name == 0x1F43B675]
    cues = next(elements(data) for name, data in parts if name == 0x1C53BB6B)
    places = [int.from_bytes(elements(dict(elements(point))[0xB7])[1][1], "big") for _, point in cues]

    assert [[data for name, data in cluster if name == 0xA3] for cluster in clusters] == [
        [b"\x81\0\0\x80key", b"\x81\0\xc8\0next"],
        [b"\x81\0\0\x80again"],
    ]
    assert all(segment[place:].startswith(b"\x1f\x43\xb6\x75") for place in places)
    assert len(places) == 2


def test_the_last_frame_of_a_movement_is_kept_and_a_long_wait_is_cut() -> None:
    frames: list[tuple[float, str]] = []
    for frame in [(1.01, "begins"), (1.04, "moves"), (1.09, "is there"), (1.31, "next"), (1.2, "late"), (9.0, "last")]:
        keep(frames, frame)

    assert [name for _, name in frames] == ["is there", "next", "last"]
    assert lengths_of(frames) == [220, 2500, 4000]
    assert [name for _, name in coarser([*frames, (9.1, "moves on"), (9.2, "has moved")])] == [
        "is there",
        "next",
        "has moved",
    ]


def test_a_scene_is_chosen_by_its_name_or_with_a_view() -> None:
    views = [("tour", "light"), ("tour", "dark"), ("hand-over", "dark")]

    assert [view for view in views if is_wanted(*view, [])] == views
    assert [view for view in views if is_wanted(*view, ["tour-dark", "hand-over"])] == views[1:]
