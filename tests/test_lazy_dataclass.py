"""The lazy decorator beside the standard one: what an importer of a class can see is the same."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field, fields
from typing import Any, Protocol

import pytest

from ui_mcp import lazy_dataclass

pytestmark = pytest.mark.covers("MCP-PERF-3")


class Decorator(Protocol):
    def __call__(self, **options: bool) -> Any: ...


def boat(dataclass: Decorator) -> Any:
    @dataclass(frozen=True, slots=True)
    class Boat:
        name: str
        crew: tuple[str, ...] = ()
        log: list[str] = field(default_factory=list, compare=False)
        secret: str = field(default="", repr=False)
        parts: dict[str, int] = field(init=False, default_factory=dict, compare=False)

        def __post_init__(self) -> None:
            self.parts["mast"] = len(self.name)

    return Boat


def sailing_boat(dataclass: Decorator) -> Any:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Sailing(boat(dataclass)):  # type: ignore[misc]
        sails: int

    return Sailing


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Place:
    name: str = ""


def both(make: Any) -> list[Any]:
    return [make(dataclasses.dataclass), make(lazy_dataclass.dataclass)]


def observed(cls: Any, *given: object, **named: object) -> list[object]:
    """Return everything that can be seen of one construction."""
    try:
        made = cls(*given, **named)
    except TypeError as error:
        return [str(error)]
    facts: list[object] = [
        repr(made).split("<locals>.")[-1],
        dataclasses.asdict(made),
        hash(made) == hash(cls(*given, **named)),
    ]
    facts += [
        made == cls(*given, **named),
        made == dataclasses.replace(made, name="other"),
        made == object(),
        made.log is cls(*given, **named).log,
    ]
    facts += [[(one.name, one.type, one.init) for one in fields(cls)], cls.__match_args__, hasattr(made, "__dict__")]
    return [*facts, dataclasses.asdict(dataclasses.replace(made, name="new"))]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("Ann",), {}),
        (("Ann", ("Bo",)), {"log": ["out"], "secret": "x"}),
        ((), {"name": "Ann"}),
        ((), {}),
        (("Ann",), {"sea": 1}),
        (("Ann", (), [], "", "more"), {}),
        (("Ann",), {"name": "Bo"}),
    ],
)
def test_a_lazy_dataclass_is_made_shown_and_compared_like_a_standard_one(
    given: tuple[object, ...], named: dict[str, object]
) -> None:
    standard, lazy = both(boat)

    assert observed(lazy, *given, **named) == observed(standard, *given, **named)
    assert observed(lazy, *given, **named) == observed(standard, *given, **named)  # with the compiled constructor


def test_fields_of_a_base_class_and_keyword_only_ones_are_taken() -> None:
    standard, lazy = both(sailing_boat)

    assert observed(lazy, "Ann", sails=2) == observed(standard, "Ann", sails=2)
    assert observed(lazy, "Ann", 2) == observed(standard, "Ann", 2)


def test_a_field_can_be_neither_assigned_nor_deleted() -> None:
    for cls in both(boat):
        made = cls("Ann")

        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
            made.name = "Bo"
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
            del made.name


def test_a_copy_and_an_unpickled_one_are_equal() -> None:
    place = Place("Rome")

    assert [copy.copy(place), copy.deepcopy(place), pickle.loads(pickle.dumps(place))] == [place] * 3


def test_methods_of_the_class_itself_stay() -> None:
    @lazy_dataclass.dataclass(frozen=True, slots=True, eq=False)
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

    assert repr(Named("x")) == "x"
    assert Named("x") != Named("x")
    assert inspect.signature(Named).parameters.keys() == {"name"}


def test_others_are_standard_dataclasses() -> None:
    @lazy_dataclass.dataclass(slots=True, order=True)
    class Count:
        number: int = 0

    count = Count(1)
    count.number = 2

    assert Count(1) < count
