"""What the fields of a dataclass say about themselves: description, limits, and the names they have outside.

All of it stands in the annotation: `Annotated[int, "Port to bind.", Limit(ge=0, le=65535)]`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from ui_mcp.jsontypes import Json
from ui_mcp.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """Bounds of a number."""

    ge: float | None = None
    le: float | None = None
    gt: float | None = None

    def check(self, value: float) -> None:
        if self.ge is not None and not value >= self.ge:  # NaN is refused as well
            raise ValueError(f"should be at least {self.ge}")
        if self.gt is not None and not value > self.gt:
            raise ValueError(f"should be more than {self.gt}")
        if self.le is not None and not value <= self.le:
            raise ValueError(f"should be at most {self.le}")


@dataclass(frozen=True, slots=True)
class Length:
    """How many members a list, or characters a text, may have."""

    least: int = 0
    most: int | None = None

    def check(self, value: Sequence[object]) -> None:
        unit = "characters" if isinstance(value, str) else "members"
        if not value and self.least:
            raise ValueError("should not be empty")
        if len(value) < self.least:
            raise ValueError(f"should have at least {self.least} {unit}")
        if self.most is not None and len(value) > self.most:
            raise ValueError(f"should have at most {self.most} {unit}, not {len(value)}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """The regular expression that a text must match from its beginning to its end."""

    regex: str

    def check(self, value: str) -> None:
        if not re.fullmatch(self.regex, value):
            raise ValueError(f"should match {self.regex}")


@dataclass(frozen=True, slots=True)
class OneOf:
    """The texts that are allowed where these are found only at run time."""

    known: Callable[[], Sequence[str]]

    def check(self, value: str) -> None:
        if value not in (known := self.known()):
            raise ValueError(one_of(known))


@dataclass(frozen=True, slots=True)
class Before:
    """Rewrites what is given, such as a short form, before it is read; raises ValueError to refuse it."""

    rewrite: Callable[[Json], Json]


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a field outside the program, then further spellings; its own name is understood as well."""

    name: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: annotations must be hashable
class Schema:
    """The JSON Schema to show instead of the one that follows from the type."""

    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Rules:
    """How a dataclass is read; it names them as `RULES`, which its subclasses inherit."""

    unknown: Literal["refuse", "ignore"] = "refuse"
    spelling: Callable[[str], str] = str
    """Turns a field's name into the one outside."""
    before: Callable[[Json], Json] | None = None
    """Rewrites other forms of the whole before it is read."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of a configuration file; unknown keys are reported, not refused."""

    RULES: ClassVar = Rules(unknown="ignore")


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field of a dataclass as the outside sees it."""

    name: str
    names: tuple[str, ...]
    """Every spelling; the first is the one to show."""
    annotation: Any
    default: Any
    """MISSING if the field is required."""

    @property
    def description(self) -> str:
        return next((mark for mark in unmarked(self.annotation)[1] if isinstance(mark, str)), "")

    @property
    def required(self) -> bool:
        return self.default is MISSING


def rules_of(kind: type) -> Rules:
    found: Rules = getattr(kind, "RULES", _STRICT)
    return found


_STRICT = Rules()


def fields_of(kind: Any) -> Mapping[str, FieldInfo]:
    """Return the fields of a dataclass by their own names."""
    return _fields_of(kind)


@cache
def _fields_of(kind: type) -> Mapping[str, FieldInfo]:
    hints = get_type_hints(kind, include_extras=True)
    spelling = rules_of(kind).spelling
    found = {}
    for field in fields(kind):
        annotation = hints[field.name]
        marks = unmarked(annotation)[1]
        named = next((mark for mark in marks if isinstance(mark, Named)), Named(spelling(field.name)))
        default = field.default if field.default_factory is MISSING else field.default_factory()
        names = tuple(dict.fromkeys((named.name, *named.others, field.name)))
        found[field.name] = FieldInfo(field.name, names, annotation, default)
    return found


def unmarked(annotation: Any) -> tuple[Any, tuple[object, ...]]:
    """Return an annotation's type, and the marks beside it."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return inner, tuple(marks)
    return annotation, ()


def record_in(annotation: Any) -> type | None:
    """Return the dataclass that an annotation is about, such as that of a list's members."""
    if isinstance(annotation, type) and is_dataclass(annotation):
        return annotation
    return next(filter(None, map(record_in, get_args(annotation))), None)


def one_of(known: Sequence[object]) -> str:
    """Return the message about a value that is none of these."""
    return f"should be one of {', '.join(map(repr, known))}"


def suggestion(kind: type, path: str) -> str:
    """Return what was probably meant by an unknown dotted path, as an addition to a message; "" without a guess."""
    from difflib import get_close_matches  # few starts have a mistake in their settings

    near = get_close_matches(path, _paths(kind, ""), 1, 0.6)
    return f"; did you mean {near[0]}?" if near else ""


def _paths(kind: type, prefix: str) -> list[str]:
    found: list[str] = []
    for name, info in fields_of(kind).items():
        inner = record_in(info.annotation)
        found += [f"{prefix}{name}", *(_paths(inner, f"{prefix}{name}.") if inner else [])]
    return found
