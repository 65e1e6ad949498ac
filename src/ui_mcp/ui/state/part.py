"""The state of one app, taken out of a session's and put into another: its global and all that it refers to."""

from collections.abc import Iterable
from typing import Any

from ui_mcp.ui.state.patch import references
from ui_mcp.ui.state.records import Record, State, Table


def part_of(state: State, name: str) -> State | None:
    """Return the objects that a global refers to, with the types they need; None if there is no such table."""
    root = root_of(state, name)
    if root is None:
        return None
    types = {record[2]: record for record in state.prototypes.values()}
    found, waiting = State(), [root]
    found.globals = ["g", 0]
    found.tables[0] = Table(None, {name: (name, {"n": root})})
    while waiting:
        number = waiting.pop()
        if number in types:
            found.prototypes[types[number][1]] = types[number]
        elif number not in found and number != state.globals_number:
            waiting += _take(state, found, number)
    return found


def _take(state: State, found: State, number: int) -> list[int]:
    """Add a node, and return the numbers of those it refers to."""
    if number in state.tables:
        table = found.tables[number] = state.tables[number]
        return references(table.meta, *(part for entry in table.fields.values() for part in entry))
    if number in state.functions:
        function = found.functions[number] = state.functions[number]
        return list(function[6::2])
    if number in state.cells:
        found.cells[number] = state.cells[number]
        return references(*state.cells[number][2:])
    return []


def root_of(state: State, name: str) -> int | None:
    """Return the number of the table that a global holds, or None."""
    table = state.tables.get(-1 if state.globals_number is None else state.globals_number)
    entry = table.fields.get(name) if table is not None else None
    return next(iter(references(entry[1])), None) if entry is not None else None


def with_part(now: State, part: State, name: str) -> State:
    """Return `now` with the app's objects of another time or session, under numbers of their own.

    Types are those of `now`; what refers to the app as a whole, such as the displayed value, refers to the new one.
    """
    renumbering = _Renumbering(now, part)
    found = State()
    found.tables, found.functions, found.cells = dict(now.tables), dict(now.functions), dict(now.cells)
    found.prototypes, found.roots, found.timers = now.prototypes, now.roots, now.timers
    found.displayed, found.globals = now.displayed, now.globals
    old, new = root_of(now, name), root_of(part, name)
    for number, table in part.tables.items():
        if number:
            found.tables[renumbering.number(number)] = renumbering.table(table)
    for number, function in part.functions.items():
        found.functions[renumbering.number(number)] = renumbering.function(function)
    for number, cell in part.cells.items():
        record = ["c", renumbering.number(number), *map(renumbering.value, cell[2:])]
        found.cells[record[1]] = record
    if new is not None:
        _refer(found, now.tables, old, renumbering.number(new), name)
    return found


def _refer(found: State, known: Iterable[int], old: int | None, new: int, name: str) -> None:
    if found.globals_number is not None:
        table = found.tables[found.globals_number] = found.tables[found.globals_number].copy()
        table.set(name, {"n": new})
    for number in known if old is not None else ():
        table = found.tables[number]
        if number != old and any(entry[1] == {"n": old} for entry in table.fields.values()):
            table = found.tables[number] = table.copy()
            for key, (given, value) in table.fields.items():
                if value == {"n": old}:
                    table.fields[key] = (given, {"n": new})


class _Renumbering:
    """Gives the nodes of a part numbers that no node of the other state has."""

    def __init__(self, now: State, part: State) -> None:
        self._next = max([0, *now.tables, *now.functions, *now.cells])
        self._numbers: dict[int, int] = {}
        for name, record in part.prototypes.items():
            # A type that is not there any more: its number belongs to nothing.
            self._numbers[record[2]] = now.prototypes[name][2] if name in now.prototypes else self._fresh()

    def number(self, old: int) -> int:
        if old not in self._numbers:
            self._numbers[old] = self._fresh()
        return self._numbers[old]

    def value(self, given: Any) -> Any:
        return {"n": self.number(given["n"])} if isinstance(given, dict) and "n" in given else given

    def table(self, given: Table) -> Table:
        made = Table(self.value(given.meta))
        for key, value in given.fields.values():
            made.set(self.value(key), self.value(value))
        return made

    def function(self, given: Record) -> Record:
        cells = [self.number(part) if index % 2 else part for index, part in enumerate(given[5:])]
        return ["f", self.number(given[1]), *given[2:5], *cells]

    def _fresh(self) -> int:
        self._next += 1
        return self._next
