"""The way from one state to another, as records that a worker applies while it runs."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from ui_mcp.jsontypes import Json, dumps
from ui_mcp.ui.state.records import Key, Record, State, Table


def difference(now: State, wanted: State) -> list[Record]:
    """Return the records that turn `now` into `wanted`; what is no longer referred to need not be deleted."""
    fixed = {record[2] for record in now.roots.values()} | _changed_types(now, wanted)
    found: list[Record] = []
    for number, function in wanted.functions.items():
        if number not in now.functions:
            found.append(function)
    for number, cell in wanted.cells.items():
        if now.cells.get(number) != cell:
            found.append(cell)
    for number, table in wanted.tables.items():
        if number not in now.tables:
            found.append(table.record(number))
        elif number not in fixed:
            found += _table_difference(number, now.tables[number], table)
    found += _timer_difference(now, wanted)
    if wanted.displayed is not None and wanted.displayed != now.displayed:
        found.append(wanted.displayed)
    return found


def _changed_types(now: State, wanted: State) -> set[int]:
    """Return the numbers of prototypes whose declarations differ: what a new file declares stays."""
    return {record[2] for name, record in now.prototypes.items() if wanted.prototypes.get(name, record)[3] != record[3]}


def _table_difference(number: int, now: Table, wanted: Table) -> Iterator[Record]:
    if now is wanted:
        return
    for name, (key, _) in now.fields.items():
        if name not in wanted.fields:
            yield ["d", number, key]
    for name, (key, value) in wanted.fields.items():
        if name not in now.fields or not same(now.fields[name][1], value):
            yield ["s", number, key, value]
    if now.meta != wanted.meta:
        yield ["m", number, wanted.meta]


def _timer_difference(now: State, wanted: State) -> Iterator[Record]:
    yield from (["w", handle] for handle in now.timers if handle not in wanted.timers)
    yield from (record for handle, record in wanted.timers.items() if handle not in now.timers)


def same(one: Any, other: Any) -> bool:
    """Return whether two recorded values are the same in Lua, where true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


class Undoing:
    """Takes one step back in a state that may have changed since.

    A field goes back if it still has the value that the step gave it, else it stays, and `kept` has its name. Elements
    that the step put into a list are taken out of it, and those it took out are put back beside their neighbours,
    wherever these are now.
    """

    def __init__(self, before: State, after: State, now: State) -> None:
        self._before = before
        self._after = after
        self._now = now
        self.kept: list[str] = []

    def state(self) -> State:
        """Return `now` without the step."""
        found = State()
        found.tables, found.functions, found.cells = (
            dict(self._now.tables),
            dict(self._now.functions),
            {**self._now.cells},
        )
        found.prototypes, found.roots, found.displayed = self._now.prototypes, self._now.roots, self._now.displayed
        found.timers = self._timers()
        for number, table in self._before.tables.items():
            after = self._after.tables.get(number)
            if after is not None and (after.fields != table.fields or after.meta != table.meta):
                self._take_back(found, number, table, after)
        for number, cell in self._before.cells.items():
            self._take_back_cell(found, number, cell)
        self._bring_back(found)
        return found

    def _timers(self) -> dict[float, Record]:
        before, after, now = self._before.timers, self._after.timers, dict(self._now.timers)
        for handle in after.keys() - before.keys():
            now.pop(handle, None)
        return now | {handle: before[handle] for handle in before.keys() - after.keys()}

    def _take_back(self, found: State, number: int, before: Table, after: Table) -> None:
        now = found.tables.get(number)
        if now is None:
            self.kept.append("an object that is gone")
            return
        table = found.tables[number] = now.copy()
        if same(table.meta, after.meta):
            table.meta = before.meta
        listed = _list_of(before), _list_of(after), _list_of(now)
        in_list = max(map(len, listed))
        if in_list and not same(listed[0], listed[1]):
            self._set_list(table, in_list, _without_step(*listed))
        for name in {**before.fields, **after.fields}:
            if not (isinstance(name, int) and 1 <= name <= in_list):
                self._take_back_field(table, name, before, after)

    def _take_back_field(self, table: Table, name: Key, before: Table, after: Table) -> None:
        was, became, current = before.fields.get(name), after.fields.get(name), table.fields.get(name)
        if _same_field(was, became):
            return
        if not _same_field(current, became):
            self.kept.append(str(name) if isinstance(name, str | int) else "a field")
        elif was is None:
            table.fields.pop(name, None)
        else:
            table.fields[name] = was

    def _set_list(self, table: Table, length: int, values: list[Json]) -> None:
        for index in range(1, length + 1):
            table.fields.pop(index, None)
        for index, value in enumerate(values, 1):
            table.set(index, value)

    def _take_back_cell(self, found: State, number: int, cell: Record) -> None:
        after = self._after.cells.get(number)
        if after is None or after == cell:
            return
        if found.cells.get(number) == after:
            found.cells[number] = cell
        else:
            self.kept.append("a local variable")

    def _bring_back(self, found: State) -> None:
        """Add what the step had removed and is referred to again."""
        waiting = [
            number
            for table in found.tables.values()
            for entry in table.fields.values()
            for number in references(*entry)
        ]
        waiting += [number for cell in found.cells.values() for number in references(*cell[2:])]
        waiting += [number for timer in found.timers.values() for number in references(*timer[2:])]
        while waiting:
            number = waiting.pop()
            if number in found.tables or number in found.functions or number in found.cells:
                continue
            if number in self._before.tables:
                table = found.tables[number] = self._before.tables[number]
                waiting += references(table.meta, *(part for entry in table.fields.values() for part in entry))
            elif number in self._before.functions:
                function = found.functions[number] = self._before.functions[number]
                waiting += function[6::2]
            elif number in self._before.cells:
                found.cells[number] = self._before.cells[number]
                waiting += references(*self._before.cells[number][2:])


def _same_field(one: tuple[Any, Any] | None, other: tuple[Any, Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return same(one[1], other[1])


def references(*values: Any) -> list[int]:
    """Return the numbers of the nodes that recorded values refer to."""
    return [value["n"] for value in values if isinstance(value, dict) and "n" in value]


def _list_of(table: Table) -> list[Json]:
    values: list[Json] = []
    while (entry := table.fields.get(len(values) + 1)) is not None:
        values.append(entry[1])
    return values


def _without_step(before: list[Json], after: list[Json], now: list[Json]) -> list[Json]:
    """Return the list `now` without the change from `before` to `after`."""
    if after == now:
        return before
    old, new, left = [dumps(one) for one in before], [dumps(one) for one in after], [dumps(one) for one in now]
    found = list(now)
    # From the end, so that the positions of earlier parts stay.
    for kind, i1, i2, j1, j2 in reversed(SequenceMatcher(None, new, old, autojunk=False).get_opcodes()):
        if kind == "equal":
            continue
        at = _place(left, new, i1)
        for text in new[i1:i2]:
            if text in left:
                at = left.index(text)
                del left[at], found[at]
        left[at:at] = old[j1:j2]
        found[at:at] = before[j1:j2]
    return found


def _place(left: list[str], new: list[str], index: int) -> int:
    """Return where in `left` the position `index` of `new` is, by the nearest neighbour before it that is left."""
    for text in reversed(new[:index]):
        if text in left:
            return left.index(text) + 1
    return 0
