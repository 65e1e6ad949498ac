"""Frozen, slotted dataclasses that are made in a tenth of the time; the standard ones took half of a start.

`dataclasses` compiles six methods of every class when its module is imported. Here the constructor is compiled when
the first instance is made, and the other methods are closures. `dataclasses.fields`, `replace`, `asdict` work as ever.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True, **options: bool) -> Callable:
        """Decorate a class as `dataclasses.dataclass` does; those that are not frozen and slotted are left to it."""
        if not (frozen and slots) or options.keys() - {"kw_only"}:
            return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, **options)

        def decorate(given: type) -> type:
            given.__doc__ = given.__doc__ or given.__name__  # or else a signature would be formatted
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, **options)(given)
            shown = tuple(field.name for field in dataclasses.fields(made) if field.repr)
            compared = tuple(field.name for field in dataclasses.fields(made) if field.compare)
            methods = {"__init__": _first_init(made), "__repr__": _repr(shown)}
            methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
            methods |= _comparison(compared) if eq else {}
            for name, method in methods.items():
                if name not in vars(given):
                    setattr(made, name, method)
            return made

        return decorate


def _first_init(cls: type) -> Callable[..., None]:
    def __init__(self: object, *given: object, **named: object) -> None:  # noqa: N807 - shown in errors
        compiled = _compiled_init(cls)
        setattr(cls, "__init__", compiled)  # noqa: B010 - mypy knows no other way
        compiled(self, *given, **named)

    return __init__


def _compiled_init(cls: type) -> Callable[..., None]:
    known: dict[str, Any] = {"_MISSING": dataclasses.MISSING}
    plain, keyword_only, body = list[str](), list[str](), list[str]()
    for field in dataclasses.fields(cls):
        name = field.name
        known[f"_set_{name}"] = getattr(cls, name).__set__  # of the slot
        value = name
        if field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _MISSING else {name}" if field.init else f"_make_{name}()"
        elif field.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = field.default
            value = name if field.init else f"_default_{name}"
        elif not field.init:
            continue
        if field.init:
            (keyword_only if field.kw_only else plain).append(f"{name}{_default_of(field)}")
        body.append(f"_set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *plain, *(["*", *keyword_only] if keyword_only else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known)  # noqa: S102 - of names in our code
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _default_of(field: "dataclasses.Field[Any]") -> str:
    if field.default is not dataclasses.MISSING:
        return f"=_default_{field.name}"
    return "=_MISSING" if field.default_factory is not dataclasses.MISSING else ""


def _repr(names: tuple[str, ...]) -> Callable[[object], str]:
    def __repr__(self: object) -> str:  # noqa: N807
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _comparison(names: tuple[str, ...]) -> dict[str, Callable[..., object]]:
    key: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: object, other: object) -> object:  # noqa: N807
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(key(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _refuse_assignment(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, values: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), values, strict=True):
        object.__setattr__(self, field.name, value)
