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

    def record(self, number: int) -> Record:
        return ["t", number, self.meta, *(part for entry in self.fields.values() for part in entry)]


class State:
    """The sum of records, from the first on."""

    def __init__(self) -> None:
        self._tables: dict[int, Table] = {}
        self._functions: dict[int, Record] = {}
        self._cells: dict[int, Record] = {}
        self._prototypes: dict[str, Record] = {}
        self._files: dict[str, Record] = {}
        self._timers: dict[float, Record] = {}
        self._globals: Record | None = None
        self._displayed: Record | None = None

    def apply(self, records: Iterable[Record]) -> None:
        """Add records; unknown kinds are of a newer version and left out."""
        for record in records:
            match record:
                case ["t", number, meta, *fields]:
                    self._tables[number] = Table(meta)
                    for key, value in zip(fields[::2], fields[1::2], strict=True):
                        self._tables[number].set(key, value)
                case ["s", number, key, value]:
                    self._tables[number].set(key, value)
                case ["d", number, key]:
                    self._tables[number].fields.pop(_key(key), None)
                case ["l", number, at, gone, length, *values]:
                    self._tables[number].splice(at, gone, length, values)
                case ["m", number, meta]:
                    self._tables[number].meta = meta
                case ["x", number]:
                    for known in (self._tables, self._functions, self._cells):
                        known.pop(number, None)
                case _:
                    self._apply_named(record)

    def _apply_named(self, record: Record) -> None:
        match record:
            case ["f", number, *_]:
                self._functions[number] = record
            case ["c", number, *_]:
                self._cells[number] = record
            case ["p", name, *_]:
                self._prototypes[name] = record
            case ["r", _, key, _]:
                self._files[key] = record
            case ["g", _]:
                self._globals = record
            case ["v", _]:
                self._displayed = record
            case ["w", handle]:
                self._timers.pop(handle, None)
            case ["w", handle, *_]:
                self._timers[handle] = record

    def records(self) -> Iterator[Record]:
        """Return records that have this sum, without detours."""
        yield from (one for one in (self._globals, self._displayed) if one is not None)
        for known in (self._prototypes, self._files, self._timers, self._functions, self._cells):
            yield from known.values()
        yield from (table.record(number) for number, table in self._tables.items())
