"""Adds up the records that Lua writes about the state of its apps; `lua_runtime/engine/state.lua` describes them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ui_mcp.jsontypes import dumps

Record = list[Any]
Key = str | int | float | bool
"""A field's name; tables and other odd keys by their JSON text with a zero byte before it."""


def _key(given: Any) -> Key:
    # Booleans are numbers in Python, but not in Lua.
    return f"\0{dumps(given)}" if isinstance(given, dict | bool) else given


@dataclass(slots=True)
class Table:
    meta: Any = None
    fields: dict[Key, tuple[Any, Any]] = field(default_factory=dict)
    """Key → the key and the value as they were written."""

    def set(self, key: Any, value: Any) -> None:
        self.fields[_key(key)] = (key, value)

    def splice(self, at: int, gone: int, length: int, values: list[Any]) -> None:
        """Replace elements of a list, and move those behind them."""
        rest = [self.fields.get(index) for index in range(at + gone, length + 1)]
        for index in range(at, length + 1):
            self.fields.pop(index, None)
        for index, value in enumerate(values, at):
            self.set(index, value)
        for index, entry in enumerate(rest, at + len(values)):
            if entry is not None:
                self.set(index, entry[1])

    def copy(self) -> "Table":
        return Table(self.meta, dict(self.fields))

    def record(self, number: int) -> Record:
        return ["t", number, self.meta, *(part for entry in self.fields.values() for part in entry)]


class State:
    """The sum of records, from the first on."""

    def __init__(self) -> None:
        self.tables: dict[int, Table] = {}
        self.functions: dict[int, Record] = {}
        self.cells: dict[int, Record] = {}
        self.prototypes: dict[str, Record] = {}
        self.timers: dict[float, Record] = {}
        self.roots: dict[str, Record] = {}
        self.displayed: Record | None = None
        self._files: dict[str, Record] = {}
        self.globals: Record | None = None

    def __contains__(self, number: int) -> bool:
        return number in self.tables or number in self.functions or number in self.cells

    @property
    def globals_number(self) -> int | None:
        """The number of the table of globals."""
        return self.globals[1] if self.globals is not None else None

    def apply(self, records: Iterable[Record]) -> None:
        """Add records; unknown kinds are of a newer version and left out."""
        for record in records:
            match record:
                case ["t", number, meta, *fields]:
                    self.tables[number] = Table(meta)
                    for key, value in zip(fields[::2], fields[1::2], strict=True):
                        self.tables[number].set(key, value)
                case ["s", number, key, value]:
                    self.tables[number].set(key, value)
                case ["d", number, key]:
                    self.tables[number].fields.pop(_key(key), None)
                case ["l", number, at, gone, length, *values]:
                    self.tables[number].splice(at, gone, length, values)
                case ["m", number, meta]:
                    self.tables[number].meta = meta
                case ["x", number]:
                    for known in (self.tables, self.functions, self.cells):
                        known.pop(number, None)
                case _:
                    self._apply_named(record)

    def _apply_named(self, record: Record) -> None:
        match record:
            case ["f", number, *_]:
                self.functions[number] = record
            case ["c", number, *_]:
                self.cells[number] = record
            case ["p", name, *_]:
                self.prototypes[name] = record
            case ["r", _, key, *_]:
                self._files[key] = record
            case ["k", name, _]:
                self.roots[name] = record
            case ["g", _]:
                self.globals = record
            case ["v", _]:
                self.displayed = record
            case ["w", handle]:
                self.timers.pop(handle, None)
            case ["w", handle, *_]:
                self.timers[handle] = record

    def records(self) -> Iterator[Record]:
        """Return records that have this sum, without detours."""
        yield from (one for one in (self.globals, self.displayed) if one is not None)
        for known in (self.prototypes, self._files, self.roots, self.timers, self.functions, self.cells):
            yield from known.values()
        yield from (table.record(number) for number, table in self.tables.items())
