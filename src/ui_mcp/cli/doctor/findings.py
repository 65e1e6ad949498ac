"""What the doctor found about one thing."""

from dataclasses import dataclass
from enum import StrEnum

from ui_mcp.jsontypes import JsonObject


class Health(StrEnum):
    """How a thing is."""

    OK = "ok"
    NOTE = "note"
    """Something optional is not there, or something deserves a look."""
    PROBLEM = "problem"
    """Something will not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing, how it is, and the way out when it is not well."""

    name: str
    health: Health
    text: str
    mend: str = ""

    def json(self) -> JsonObject:
        """Return the finding for programs."""
        told: JsonObject = {"name": self.name, "health": str(self.health), "text": self.text}
        return told | {"mend": self.mend} if self.mend else told


def ok(name: str, text: str) -> Finding:
    """Say that a thing is well."""
    return Finding(name, Health.OK, text)


def note(name: str, text: str, mend: str) -> Finding:
    """Say that something optional is missing."""
    return Finding(name, Health.NOTE, text, mend)


def problem(name: str, text: str, mend: str) -> Finding:
    """Say that something will not work."""
    return Finding(name, Health.PROBLEM, text, mend)
