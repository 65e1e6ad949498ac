"""Colour for terminals: only where the output is one, and the person has not switched it off."""

import os
import sys
from typing import TextIO

from ui_mcp.lazy_dataclass import dataclass

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Style:
    """Paints texts; without colour it returns them as they are."""

    coloured: bool

    def paint(self, text: str, kind: str) -> str:
        """Return the text in bold, dim, red, green, yellow or cyan."""
        return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if self.coloured and text else text


def style_of(stream: TextIO | None = None) -> Style:
    """Return the style for a stream, standard output by default; NO_COLOR and FORCE_COLOR are respected."""
    chosen = sys.stdout if stream is None else stream
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return Style(coloured=False)
    return Style(coloured=bool(os.environ.get("FORCE_COLOR")) or chosen.isatty())
