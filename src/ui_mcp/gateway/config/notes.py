"""What reading a document found odd in it, and how deep one may be nested."""

from dataclasses import asdict, dataclass
from typing import Literal

Status = Literal["ok", "degraded", "skipped"]


@dataclass(frozen=True, slots=True)
class Note:
    """One oddity of a document; `operation` is "" if it concerns the whole document."""

    pointer: str
    code: str
    message: str
    operation: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)


class Notes:
    """Collects notes without duplicates."""

    def __init__(self) -> None:
        self._found: dict[Note, None] = {}

    def add(self, pointer: str, code: str, message: str) -> None:
        self._found[Note(pointer, code, message)] = None

    def all(self) -> tuple[Note, ...]:
        """Return the notes in the order in which they were added."""
        return tuple(self._found)


MAX_DEPTH = 200
"""Deeper than any real document, and well below the recursion limits of JSON encoding and schema walking."""

TOO_DEEP = f"It is nested more than {MAX_DEPTH} levels deep\nLook at where it comes from."
