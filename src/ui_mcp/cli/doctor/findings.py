"""Finding and Health: results of the checks of `ui-mcp doctor`."""

from dataclasses import dataclass
from enum import StrEnum

from ui_mcp.jsontypes import JsonObject


class Health(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Something optional is missing or worth checking."""
    PROBLEM = "problem"
    """Something does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check, with the fix if there is something to do."""

    name: str
    health: Health
    text: str
    fix: str = ""

    def json(self) -> JsonObject:
        found: JsonObject = {"name": self.name, "health": str(self.health), "text": self.text}
        return found | {"fix": self.fix} if self.fix else found


def ok(name: str, text: str) -> Finding:
    return Finding(name, Health.OK, text)


def note(name: str, text: str, fix: str) -> Finding:
    return Finding(name, Health.NOTE, text, fix)


def problem(name: str, text: str, fix: str) -> Finding:
    return Finding(name, Health.PROBLEM, text, fix)
