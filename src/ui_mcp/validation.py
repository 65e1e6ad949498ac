"""Reads foreign data into dataclasses by their annotations, and reports everything that does not fit."""

import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from ui_mcp.errors import ConfigError
from ui_mcp.fields import Before, Length, Limit, Named, OneOf, Pattern, Schema, fields_of, one_of, rules_of, unmarked
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.lazy_dataclass import dataclass

T = TypeVar("T")
Path = tuple[str | int, ...]
Reader = Callable[[Json], Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one value, and the keys that lead to it."""

    path: Path
    text: str
    given: Json = None

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.text}" if self.path else self.text


class InvalidDataError(ValueError):
    """Data does not fit; holds at least one problem."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def read(kind: type[T], given: Json) -> T:
    """Read a value of this type; numbers and booleans may be given as text, as models and environments do.

    Raises:
        InvalidDataError: it does not fit; every problem is reported.
    """
    annotation: Any = kind
    found: T = _reader(annotation)(given)
    return found


def read_json(kind: type[T], text: str | bytes) -> T:
    """Read a value of this type from JSON text.

    Raises:
        InvalidDataError: it is not JSON, or does not fit.
    """
    try:
        given = loads(text)
    except ValueError as error:
        raise _wrong(f"should be JSON: {error}", text) from error
    return read(kind, given)


def to_json(record: Any, *, outside: bool = False) -> JsonObject:
    """Return the fields of a dataclass that differ from their defaults; `outside` uses the names to show."""
    written: JsonObject = {}
    for name, field in fields_of(type(record)).items():
        value = getattr(record, name)
        if field.required or value != field.default:
            written[field.names[0] if outside else name] = _json_value(value, outside=outside)
    return written


def _json_value(value: Any, *, outside: bool) -> Json:
    match value:
        case list() | tuple():
            return [_json_value(member, outside=outside) for member in value]
        case dict():
            return {key: _json_value(member, outside=outside) for key, member in value.items()}
        case _:
            return to_json(value, outside=outside) if is_dataclass(value) else value


@cache
def _reader(annotation: Any) -> Reader:
    inner, marks = unmarked(annotation)
    reader = _plain_reader(inner)
    if not any(not isinstance(mark, str | Named | Schema) for mark in marks):
        return reader
    return partial(_marked, reader, [mark.rewrite for mark in marks if isinstance(mark, Before)], _checks(marks))


def _checks(marks: tuple[object, ...]) -> list[Callable[[Any], None]]:
    return [mark.check for mark in marks if isinstance(mark, Limit | Length | Pattern | OneOf)]


def _marked(
    reader: Reader, rewrites: list[Callable[[Json], Json]], checks: list[Callable[[Any], None]], given: Json
) -> Any:
    try:
        for rewrite in rewrites:
            given = rewrite(given)
        value = reader(given)
        for check in checks if value is not None else ():
            check(value)
    except InvalidDataError:
        raise
    except ValueError as error:
        raise _wrong(str(error), given) from error
    return value


def _plain_reader(kind: Any) -> Reader:
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return _anything
    if origin is Literal:
        return partial(_choice, args)
    if origin in (Union, UnionType):
        return _union(args)
    if origin in (list, tuple):
        return _series(origin, args)
    if origin is dict:
        return partial(_mapping, _reader(args[0]), _reader(args[1]))
    if is_dataclass(kind):
        return _Record(kind)  # type: ignore[arg-type]
    return _SCALARS[kind]


def _anything(given: Json) -> Json:
    return given


def _text(given: Json) -> str:
    if isinstance(given, str):
        return given
    raise _wrong("should be text", given)


_WHOLE = re.compile(r"\s*([+-]?\d{1,4300})(?:\.0*)?\s*", re.ASCII)


def _integer(given: Json) -> int:
    match given:
        case int() if not isinstance(given, bool):
            return given
        case float() if given.is_integer():
            return int(given)
        case str() if found := _WHOLE.fullmatch(given):
            return int(found[1])
    raise _wrong("should be a whole number", given)


def _float(given: Json) -> float:
    if isinstance(given, int | float | str) and not isinstance(given, bool):
        try:
            return float(given)
        except (ValueError, OverflowError):
            pass
    raise _wrong("should be a number", given)


_BOOLEANS = {
    **dict.fromkeys(("true", "1", "yes", "on", "t", "y"), True),
    **dict.fromkeys(("false", "0", "no", "off", "f", "n"), False),
}


def _boolean(given: Json) -> bool:
    if isinstance(given, bool):
        return given
    key = str(int(given)) if isinstance(given, float) and given.is_integer() else str(given).lower()
    if isinstance(given, int | float | str) and key in _BOOLEANS:
        return _BOOLEANS[key]
    raise _wrong("should be true or false", given)


def _nothing(given: Json) -> None:
    if given is not None:
        raise _wrong("should be null", given)


_SCALARS: dict[Any, Reader] = {str: _text, int: _integer, float: _float, bool: _boolean, NoneType: _nothing}


def _choice(known: tuple[Any, ...], given: Json) -> Json:
    if any(given == one and type(given) is type(one) for one in known):
        return given
    raise _wrong(one_of(known), given)


def _union(kinds: tuple[Any, ...]) -> Reader:
    optional = NoneType in kinds
    readers = [_reader(kind) for kind in kinds if kind is not NoneType]
    exact = tuple(kind for kind in kinds if kind in _SCALARS)

    def read_union(given: Json) -> Any:
        if given is None and optional:
            return None
        if len(readers) > 1 and type(given) in exact:  # so that "1" stays a text
            return given
        problems: tuple[Problem, ...] = ()
        for reader in readers:
            try:
                return reader(given)
            except InvalidDataError as error:
                problems = problems or error.problems
        raise InvalidDataError(*problems)

    return read_union


def _series(origin: type, kinds: tuple[Any, ...]) -> Reader:
    if origin is tuple and kinds[-1] is not Ellipsis:
        readers = [_reader(kind) for kind in kinds]
        return partial(_fixed, readers)
    member = _reader(kinds[0])

    def read_series(given: Json) -> Any:
        if not isinstance(given, list | tuple):
            raise _wrong("should be a list", given)
        return origin(_each(((index, member, value) for index, value in enumerate(given))).values())

    return read_series


def _fixed(readers: list[Reader], given: Json) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple) or len(given) != len(readers):
        raise _wrong(f"should be a list of {len(readers)}", given)
    return tuple(_each(zip(range(len(readers)), readers, given, strict=True)).values())


def _mapping(key: Reader, member: Reader, given: Json) -> dict[Any, Any]:
    if not isinstance(given, dict):
        raise _wrong("should be an object", given)
    _each((name, key, name) for name in given)
    return _each((name, member, value) for name, value in given.items())


def _each(parts: Iterator[tuple[Any, Reader, Json]]) -> dict[Any, Any]:
    """Read every part, and only then report the problems of all."""
    found, problems = {}, []
    for name, reader, given in parts:
        try:
            found[name] = reader(given)
        except InvalidDataError as error:
            problems += [Problem((name, *one.path), one.text, one.given) for one in error.problems]
    if problems:
        raise InvalidDataError(*problems)
    return found


class _Record:
    """Reads a dataclass."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._rules = rules_of(kind)
        self._fields = [(field, _reader(field.annotation)) for field in fields_of(kind).values()]
        self._known = {name for field, _ in self._fields for name in field.names}

    def __call__(self, given: Json) -> Any:
        if isinstance(given, self._kind):
            return given
        if self._rules.before is not None:
            given = self._rules.before(given)
        if not isinstance(given, dict):
            raise _wrong("should be an object", given)
        values, problems = self._values(given)
        if self._rules.unknown == "refuse":
            problems += [Problem((str(name),), "is unknown", given[name]) for name in given if name not in self._known]
        if problems:
            raise InvalidDataError(*problems)
        try:
            return self._kind(**values)
        except InvalidDataError:
            raise
        except ValueError as error:  # from __post_init__
            raise _wrong(str(error), given) from error

    def _values(self, given: JsonObject) -> tuple[dict[str, Any], list[Problem]]:
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        for field, reader in self._fields:
            name = _given_name(field.names, given)
            # Hosts that fill in every argument send null for those that are left out.
            if name is None or (given[name] is None and not field.required):
                if field.required:
                    problems.append(Problem((field.names[0],), "is missing"))
                continue
            try:
                values[field.name] = reader(given[name])
            except InvalidDataError as error:
                problems += [Problem((name, *one.path), one.text, one.given) for one in error.problems]
        return values, problems


def _given_name(names: Sequence[str], given: JsonObject) -> str | None:
    for name in names:
        if name in given:
            return name
    return None


def _wrong(text: str, given: Json) -> InvalidDataError:
    return InvalidDataError(Problem((), text, given))


def read_toml(file: pathlib.Path) -> JsonObject:
    """Return the contents of a TOML file, empty if there is none.

    Raises:
        ConfigError: the file cannot be read, or is not TOML.
    """
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # lazy: most directories have no configuration file

        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}", file=str(file)) from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise ConfigError(f"{file}: {error}", file=str(file)) from error
