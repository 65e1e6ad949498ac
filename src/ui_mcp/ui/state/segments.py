"""Entries of a journal, and many of them packed into one compressed text: the older part of a session's history."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass

from ui_mcp.jsontypes import dumps, loads

LEVEL = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One step of a journal: what changed, or the whole state; who did it, and what it is called."""

    seq: int
    at: float
    whole: bool
    body: str
    """Records as a JSON list."""
    author: str = ""
    app: str = ""
    label: str = ""
    undoes: int = 0
    """The step that this one took back; 0: none."""


def pack(entries: Iterable[Entry]) -> str:
    """Return entries as one text."""
    rows = [[one.seq, one.at, one.whole, one.body, one.author, one.app, one.label, one.undoes] for one in entries]
    return b64encode(zlib.compress(dumps(rows).encode(), LEVEL)).decode()


def unpack(text: str) -> list[Entry]:
    """Return the entries of a text that `pack` has made."""
    return [Entry(*row) for row in loads(zlib.decompress(b64decode(text)))]
