"""Decides what happens to each file; touches nothing."""

from dataclasses import dataclass
from enum import Enum

from ui_mcp.version import Version


class Action(Enum):
    """What to do with one bundled file."""

    WRITE = "write it: it is missing, or what is there is our own older text"
    KEEP = "leave what is there"
    MERGE = "leave the user's text and put ours beside it as FILE.merge"
    BACKUP = "replace the user's text and keep it as FILE.bak"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about one destination; each digest is the SHA-256 of a text."""

    bundled: str
    """Of the text we bring."""
    present: str | None
    """Of the text that is there; `None` when nothing is."""
    recorded: str | None
    """Of the text we installed there last time; `None` when we do not know of it."""


def wanted(bundled: Version | None, installed: Version | None, *, force: bool) -> bool:
    """Say whether to install at all."""
    return force or installed is None or (bundled is not None and bundled > installed)


def action(facts: Facts, *, upgrade: bool, force: bool) -> Action:
    """Say what to do with one file of an install that is wanted."""
    if facts.present is None:
        return Action.WRITE
    if facts.present == facts.bundled:
        return Action.WRITE if force else Action.KEEP
    if facts.present == facts.recorded:
        return Action.WRITE
    if force:
        return Action.BACKUP
    stands = facts.bundled == facts.recorded
    return Action.MERGE if upgrade and not stands else Action.KEEP
