"""What has changed in what a UI shows, by lines of its outline: views that were rendered anew have new uids."""

import difflib
from dataclasses import dataclass

from ui_mcp.introspection import outline
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.outline import Entry
from ui_mcp.introspection.target import Target

MAX_LINES = 150


@dataclass(frozen=True, slots=True)
class Shown:
    """What a UI showed at one moment."""

    lines: tuple[str, ...]
    keys: tuple[str, ...]
    """The lines without uids."""
    problems: tuple[str, ...]
    """Failed bindings and errors of the console since the last look."""


async def look(target: Target) -> Shown:
    """Read the UI.

    Raises:
        IntrospectError: it cannot be read.
    """
    capture = await target.capture(CaptureRequest(stage="all"))
    found = [line for entry in outline.entries(capture) for line in _lines(entry, 0)]
    await target.tell(uid for node in capture.nodes() for uid in outline.row_uids(node))
    lines, keys = tuple(line for line, _ in found), tuple(key for _, key in found)
    return Shown(lines, keys, tuple(target.backend.problems()))


def difference(before: Shown | None, after: Shown) -> str:
    """Return the lines that are gone (`-`) and new (`+`), each after the line above it; all, without a `before`."""
    if before is None:
        return _cut(list(after.lines))
    found: list[str] = []
    matcher = difflib.SequenceMatcher(None, before.keys, after.keys)
    for kind, old, old_end, new, new_end in matcher.get_opcodes():
        if kind != "equal":
            found += [f"  {line}" for line in after.lines[max(0, new - 1) : new]]
            found += [f"- {line}" for line in before.keys[old:old_end]]
            found += [f"+ {line}" for line in after.lines[new:new_end]]
    return _cut(found)


def _lines(entry: Entry, level: int) -> list[tuple[str, str]]:
    """Return the lines of an entry and those below it, each with and without its uid."""
    found, pending = [], [(entry, level)]
    while pending:
        at, depth = pending.pop()
        indent = "  " * depth
        found.append((indent + at.text, indent + at.text.replace(f" {at.uid}", "", 1)))
        pending.extend((child, depth + 1) for child in reversed(at.children))
    return found


def _cut(lines: list[str]) -> str:
    more = len(lines) - MAX_LINES
    return "\n".join([*lines[:MAX_LINES], *([f"… {more} more lines; ui_get_snapshot shows all"] if more > 0 else [])])
