"""What is wrong in the apps of one session: shown in the pages, reported to the agent once, listed by `ui_audit`."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from anyio import to_thread

from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.ui.sessions.events import EventQueue
from ui_mcp.ui.sessions.pages import Connection, Pages, system_event
from ui_mcp.validation import read
from ui_mcp.wire import MessageType, OutputKind, Property

MAX_PROBLEMS = 100
MAX_TEXT = 2000
_TOLD = ("kind", "level", "file", "line", "expression", "message", "hint", "source")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong; repetitions have the same id."""

    id: str
    kind: str
    """`action`, `binding`, `timer`, `code`, `script`, `viewdef`, `icon`, `tag`, `attribute`, `load` or `conflict`."""
    message: str
    level: str = "error"
    app: str | None = None
    file: str | None = None
    """Below the base directory."""
    line: int | None = None
    expression: str | None = None
    """The attribute of the viewdef that failed."""
    hint: str | None = None
    source: str | None = None
    """Where in Lua or JavaScript the error was raised."""
    traceback: str | None = None
    code: str | None = None
    count: int = field(default=1, compare=False)

    def as_json(self) -> JsonObject:
        """Return the fields that have a value, for agents and pages."""
        values: dict[str, Any] = {name: getattr(self, name) for name in ("app", *_TOLD)}
        return {name: value for name, value in values.items() if value is not None}


def read_problem(given: JsonObject) -> Problem:
    """Return a problem from the JSON of a worker; long texts are cut.

    Raises:
        InvalidArgumentsError: a field has another type.
    """
    cut = {name: value[:MAX_TEXT] if isinstance(value, str) else value for name, value in given.items()}
    return read(Problem, cut)


def load_problem(file: str, message: str) -> Problem:
    """Return the problem of a file that could not be loaded."""
    parts = PurePath(file).parts
    at = parts.index("apps") if "apps" in parts else -1
    app = parts[at + 1] if at >= 0 and len(parts) > at + 2 else None
    shown = "/".join(parts[at:]) if app else file
    line = re.match(r"\S+?:(\d+): ", message)
    return Problem(f"load {file}", "load", message, app=app, file=shown or None, line=int(line[1]) if line else None)


@dataclass(frozen=True, slots=True)
class Blank:
    """Why a displayed app shows nothing, and the key of the viewdef that its type lacks."""

    note: str
    viewdef: str | None = None


class Problems:
    """Keeps the problems of one session until they are resolved or dismissed."""

    def __init__(
        self, vended: str, events: EventQueue, pages: Pages, will_load: Callable[[str], bool] = lambda _file: False
    ) -> None:
        self._vended = vended
        self._will_load = will_load
        self._events = events
        self._pages = pages
        self._found: dict[str, Problem] = {}
        self._told: set[tuple[str, str]] = set()

    def show(self, problem: Problem) -> bool:
        """Show a problem in the pages; return False for a repetition, which is only counted."""
        known = self._found.get(problem.id)
        if known == problem:
            self._found[problem.id] = replace(known, count=known.count + 1)
            return False
        if known is None and len(self._found) >= MAX_PROBLEMS:
            self._found.pop(next(iter(self._found)))
        self._found[problem.id] = problem
        self._show()
        return True

    def add(self, problem: Problem) -> None:
        """Show a problem and tell the agent, once."""
        if problem.kind == "viewdef" and problem.file and self._will_load(problem.file):
            return  # an app was opened in the moment between the writing of its files and their loading
        if self.show(problem) and (problem.id, problem.message) not in self._told:
            self._told.add((problem.id, problem.message))
            facts = problem.as_json()
            facts["target"] = facts.pop("app", None)
            self._events.push_system(system_event("app_error", {"session": self._vended, **facts}))

    def note(self, kind: str, text: str) -> None:
        """Handle the output `problem` or `resolved` of a worker."""
        if kind == OutputKind.PROBLEM:
            self.add(read_problem(loads(text)))
        else:
            self.resolve(text)

    async def check_names(self, key: str, find: Callable[[str], list[JsonObject]]) -> None:
        """Look in a viewdef's file for names that do not exist; `find` returns them as JSON of problems."""
        found = await to_thread.run_sync(find, key)
        prefix = f"name {key} "
        self.replace(prefix, [read_problem({**one, "id": prefix + str(one["id"])}) for one in found])

    def resolve(self, identity: str) -> None:
        """Withdraw a problem that is no more."""
        if self._found.pop(identity, None) is not None:
            self._show()

    def replace(self, prefix: str, problems: Iterable[Problem]) -> None:
        """Put `problems` in place of all whose id begins with `prefix`."""
        now = list(problems)
        for gone in [key for key in self._found if key.startswith(prefix) and key not in {one.id for one in now}]:
            self.resolve(gone)
        for problem in now:
            self.add(problem)

    def changed_files(self) -> None:
        """Forget what was reported to the agent: after an edit, the same problem is news."""
        self._told.clear()

    def of_app(self, app: str) -> list[JsonObject]:
        """Return the problems of an app, with how often each occurred."""
        return [{**one.as_json(), "count": one.count} for one in self._found.values() if one.app == app]

    def clear(self) -> None:
        self._told.clear()
        if self._found:
            self._found.clear()
            self._show()

    def show_in(self, connection: Connection) -> None:
        """Send all problems to a page that has just connected."""
        if self._found:
            connection.outbox.put(self._frame())

    def _show(self) -> None:
        self._pages.send_all(self._frame())

    def _frame(self) -> str:
        listed = [{"id": one.id, **one.as_json()} for one in self._found.values()]
        return dumps(
            {"type": MessageType.UPDATE, "data": {"varId": 1, "properties": {Property.PROBLEMS: dumps(listed)}}}
        )
