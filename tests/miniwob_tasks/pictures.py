"""Reads PNG pictures as a person looks at them: corners of a shape, marks in a grid."""

import math
import struct
import zlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Picture:
    """The brightness of every pixel, 0 to 255, row by row."""

    rows: list[list[int]]

    @classmethod
    def read(cls, png: bytes) -> "Picture":
        width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
        assert depth == 8, "one byte per channel"
        channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
        data, at = b"", 8
        while at < len(png):
            (length,) = struct.unpack(">I", png[at : at + 4])
            if png[at + 4 : at + 8] == b"IDAT":
                data += png[at + 8 : at + 8 + length]
            at += 12 + length
        return cls(_brightness(zlib.decompress(data), width, height, channels))

    def corners(self) -> int:
        """Return the number of corners of the outline of a regular shape around the middle."""
        height, width = len(self.rows), len(self.rows[0])
        distances = [self._reach(width / 2, height / 2, math.radians(angle)) for angle in range(360)]
        # A regular shape with n corners repeats n times around: the strongest frequency.
        mean = sum(distances) / 360
        return max(range(3, 8), key=lambda n: abs(sum((d - mean) * _turn(n, at) for at, d in enumerate(distances))))

    def _reach(self, x: float, y: float, angle: float) -> float:
        """Return how far the dark line is from the middle in a direction."""
        dark = [r for r in range(10, 45) if self._at(x + r * math.cos(angle), y + r * math.sin(angle)) < 128]
        return sum(dark) / len(dark) if dark else 35.0

    def _at(self, x: float, y: float) -> int:
        row, column = round(y), round(x)
        return self.rows[row][column] if 0 <= row < len(self.rows) and 0 <= column < len(self.rows[0]) else 255

    def cells(self, columns: int, rows: int) -> list[bool]:
        """Return which cells of a grid are marked: lighter than halfway between the lightest and the darkest."""
        sums = [self._mean(column, row, columns, rows) for row in range(rows) for column in range(columns)]
        middle = (min(sums) + max(sums)) / 2
        return [value > middle for value in sums]

    def _mean(self, column: int, row: int, columns: int, rows: int) -> float:
        height, width = len(self.rows), len(self.rows[0])
        found = [
            self.rows[y][x]
            for y in range(height * row // rows, height * (row + 1) // rows)
            for x in range(width * column // columns, width * (column + 1) // columns)
        ]
        return sum(found) / len(found)


def _turn(n: int, degrees: int) -> complex:
    return complex(math.cos(math.radians(n * degrees)), math.sin(math.radians(n * degrees)))


def _brightness(data: bytes, width: int, height: int, channels: int) -> list[list[int]]:
    stride = width * channels
    before = bytearray(stride)
    rows = []
    for at in range(height):
        start = at * (stride + 1)
        line = _unfiltered(data[start], bytearray(data[start + 1 : start + 1 + stride]), before, channels)
        rows.append([_grey(line[x * channels : (x + 1) * channels]) for x in range(width)])
        before = line
    return rows


def _grey(pixel: bytearray) -> int:
    light = sum(pixel[:3]) // 3 if len(pixel) >= 3 else pixel[0]
    alpha = pixel[-1] if len(pixel) in {2, 4} else 255
    return (light * alpha + 255 * (255 - alpha)) // 255


def _unfiltered(kind: int, line: bytearray, before: bytearray, step: int) -> bytearray:
    for at in range(len(line)):
        left = line[at - step] if at >= step else 0
        up = before[at]
        corner = before[at - step] if at >= step else 0
        line[at] = (line[at] + (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]) & 255
    return line


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
