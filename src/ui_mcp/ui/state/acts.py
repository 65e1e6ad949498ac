"""Who did something to a session, and what a person calls it: the captions of its history."""

import json
import os
from typing import TYPE_CHECKING

from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.wire import Op

if TYPE_CHECKING:
    from ui_mcp.lua_runtime.interface import Scalar

PERSON, AGENT, TIMER, RELOAD, MESSAGE, START = "person", "agent", "timer", "reload", "message", "start"
"""Kinds of authors; a person's is followed by the id of their page, as in `person:4f1c`."""
MAX_LABEL = 80
UNNAMED = "Change"


@dataclass(frozen=True, slots=True)
class Act:
    """One operation as the history shows it."""

    author: str
    label: str
    app: str = ""
    undoes: int = 0


def act_of(op: Op, args: "tuple[Scalar, ...]", author: str, app: str) -> Act:
    """Return who did an operation and its name; `author` is empty where the operation tells. Pure."""
    first = str(args[0]) if args else ""
    match op:
        case Op.RUN:
            return Act(author or AGENT, f"Run {_first_line(first)}", app)
        case Op.CONSOLE:
            return Act(author or PERSON, f"Run {_first_line(first)}", app)
        case Op.DISPLAY:
            return Act(author or AGENT, f"Show {first}", first)
        case Op.TIMER:
            return Act(TIMER, "Timer", app)
        case Op.RELOAD:
            return Act(RELOAD, f"Reload {os.path.basename(first)}", app)  # noqa: PTH119 - a name, no file is touched
        case Op.VIEWDEFS:
            return Act(RELOAD, "Reload templates", app)
        case Op.PUBLISHED:
            return Act(MESSAGE, f"Message on {first}", app)
        case _:
            return Act(author or PERSON, UNNAMED, app)


def _first_line(code: str) -> str:
    line = next((line.strip() for line in code.splitlines() if line.strip()), "nothing")
    return line if len(line) <= MAX_LABEL else f"{line[: MAX_LABEL - 1]}…"


NAMED = '[["h",'
"""How changes begin whose operation Lua could name: the record `["h", app, label, count]`."""


def named(changes: str, act: Act) -> tuple[str, Act]:
    """Return changes without the record that names them, and the act with the name; pure."""
    if not changes.startswith(NAMED):
        return changes, OPENED if act.label == UNNAMED else act
    (_, app, label, count), end = json.JSONDecoder().raw_decode(changes, 1)
    more = f" and {count - 1} more" if count > 1 else ""
    rest = changes[end + 1 :] if changes[end] == "," else "]"
    return f"[{rest}", Act(act.author, f"{label}{more}", app or act.app, act.undoes)


OPENED = Act(START, "Page opened")
"""What a page has caused without a person's action."""


def kind_of(author: str) -> str:
    """Return the kind of an author."""
    return author.partition(":")[0]
