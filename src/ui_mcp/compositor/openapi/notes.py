"""What was odd in a document: nothing of it refuses the whole, everything of it is reported."""

from dataclasses import asdict, dataclass
from typing import Literal

from ui_mcp.jsontypes import JsonObject

Status = Literal["ok", "degraded", "skipped"]


@dataclass(frozen=True, slots=True)
class Note:
    """One oddity; `operation` is empty when it concerns the document."""

    pointer: str
    code: str
    message: str
    operation: str = ""

    def to_json(self) -> JsonObject:
        """Return the fields for a report."""
        return asdict(self)


class Notes:
    """Collects notes, each once."""

    def __init__(self) -> None:
        self._found: dict[Note, None] = {}

    def add(self, pointer: str, code: str, message: str) -> None:
        """Remember one oddity."""
        self._found[Note(pointer, code, message)] = None

    def all(self) -> tuple[Note, ...]:
        """Return them in the order they were found."""
        return tuple(self._found)
