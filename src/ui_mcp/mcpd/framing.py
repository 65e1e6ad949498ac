"""Bytes into lines: one message per line, LF or CRLF, no line longer than the limit."""

from enum import Enum
from typing import Final

MAX_LINE = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class TooLong(Enum):
    """Stands for a line that was skipped because of its length."""

    LINE = "line"


Line = bytes | TooLong


class Framer:
    """Cuts a byte stream into lines; blank ones are left out."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit: Final = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines that `chunk` completes."""
        *complete, rest = chunk.split(b"\n")
        lines = [line for piece in complete for line in self._finish(piece)]
        return lines + self._keep(rest)

    def end(self) -> list[Line]:
        """Return a last line that had no line break."""
        return self._finish(b"")

    def _finish(self, piece: bytes) -> list[Line]:
        problems = self._keep(piece)
        line = b"".join(self._parts).removeprefix(_BOM).strip()
        self._parts, self._size, self._skipping = [], 0, False
        return [*problems, line] if line else problems

    def _keep(self, piece: bytes) -> list[Line]:
        if self._skipping or not piece:
            return []
        self._size += len(piece)
        if self._size > self._limit:
            self._parts, self._skipping = [], True
            return [TooLong.LINE]
        self._parts.append(piece)
        return []
