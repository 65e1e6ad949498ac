"""Reading foreign data into dataclasses: what is accepted, what is refused and how that is said."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.fields import Before, Length, Limit, Named, OneOf, Pattern, Rules
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.validation import InvalidDataError, Problem, read, read_json, to_json


def _as_point(value: Json) -> Json:
    return {"x": value} if isinstance(value, int) else value


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: Annotated[int, Limit(ge=0, le=9)] = 0

    def __post_init__(self) -> None:
        if self.x == self.y == 9:
            raise ValueError("is taken")


@dataclass(frozen=True, slots=True)
class Drawing:
    name: Annotated[str, "How it is called.", Pattern("[a-z]+")]
    points: Annotated[list[Point], Length(1, 3)] = field(default_factory=list)
    at: Annotated[Point, Before(_as_point)] | None = None
    by_name: dict[str, Point] = field(default_factory=dict)
    scale: Annotated[float, Limit(gt=0)] = 1.0
    kind: Literal["plain", "rich"] = "plain"
    shown: bool = True
    owner: Annotated[int | str, Named("ownerId", ("owner_id",))] = ""
    pair: tuple[int, int] | None = None
    colour: Annotated[str, OneOf(lambda: ["red", "blue"])] = "red"
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tolerant:
    RULES: ClassVar = Rules(unknown="ignore", spelling=str.upper)

    width: int = 0


def problems(kind: type, given: Json) -> list[str]:
    with pytest.raises(InvalidDataError) as caught:
        read(kind, given)
    return [str(problem) for problem in caught.value.problems]


def test_data_that_fits_becomes_the_dataclass() -> None:
    drawn = read(
        Drawing,
        {
            "name": "a",
            "points": [{"x": 1}],
            "at": 4,
            "by_name": {"b": {"x": 2, "y": 3}},
            "pair": [1, 2],
            "extra": {"z": 1},
        },
    )

    assert drawn == Drawing("a", [Point(1)], Point(4), {"b": Point(2, 3)}, pair=(1, 2), extra={"z": 1})


def test_numbers_and_booleans_may_be_text_as_models_and_environments_send_them() -> None:
    assert read(Point, {"x": "7", "y": "3.0"}) == Point(7, 3)
    assert read(Point, {"x": 7.0}) == Point(7)
    assert read(Drawing, {"name": "a", "scale": "2.5", "shown": "false"}) == Drawing("a", scale=2.5, shown=False)
    assert read(Drawing, {"name": "a", "shown": 0, "owner": "1"}) == Drawing("a", shown=False, owner="1")


@pytest.mark.covers("MCP-TOOL-5")
def test_null_for_an_optional_value_is_the_same_as_leaving_it_out() -> None:
    assert read(Drawing, {"name": "a", "points": None, "scale": None, "at": None}) == Drawing("a")
    assert problems(Drawing, {"name": None}) == ["name: should be text"]


def test_every_problem_is_reported_with_the_path_to_it() -> None:
    given = {
        "points": [{"x": 1}, {"y": "many"}],
        "by_name": {"b": {"x": 1, "y": 10}},
        "scale": 0,
        "kind": "odd",
        "pair": [1],
        "colour": "green",
        "weight": 5,
    }

    assert problems(Drawing, given) == [
        "name: is missing",
        "points.1.x: is missing",
        "points.1.y: should be a whole number",
        "by_name.b.y: should be at most 9",
        "scale: should be more than 0",
        "kind: should be one of 'plain', 'rich'",
        "pair: should be a list of 2",
        "colour: should be one of 'red', 'blue'",
        "weight: is unknown",
    ]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"name": 5}, "name: should be text"),
        ({"name": "a\n"}, "name: should match [a-z]+"),
        ({"name": "a", "points": []}, "points: should not be empty"),
        ({"name": "a", "points": [{"x": 1}] * 4}, "points: should have at most 3 members, not 4"),
        ({"name": "a", "points": {"x": 1}}, "points: should be a list"),
        ({"name": "a", "points": [{"x": 9, "y": 9}]}, "points.0: is taken"),
        ({"name": "a", "at": "there"}, "at: should be an object"),
        ({"name": "a", "by_name": []}, "by_name: should be an object"),
        ({"name": "a", "scale": "nan"}, "scale: should be more than 0"),
        ({"name": "a", "scale": 10**400}, "scale: should be a number"),
        ({"name": "a", "shown": 2}, "shown: should be true or false"),
        ({"name": "a", "kind": 1}, "kind: should be one of 'plain', 'rich'"),
        ([], "should be an object"),
    ],
)
def test_a_wrong_value_is_named_with_what_it_should_be(given: Json, problem: str) -> None:
    assert problems(Drawing, given) == [problem]


def test_a_problem_knows_its_path_and_the_value() -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(Drawing, {"name": "a", "points": [{"x": "one"}]})

    assert caught.value.problems == (Problem(("points", 0, "x"), "should be a whole number", "one"),)


def test_a_field_is_read_under_each_of_its_names_and_written_under_the_first() -> None:
    spellings = [read(Drawing, {"name": "a", name: 7}) for name in ("ownerId", "owner_id", "owner")]

    assert spellings == [Drawing("a", owner=7)] * 3
    assert to_json(spellings[0], outside=True) == {"name": "a", "ownerId": 7}
    assert to_json(spellings[0]) == {"name": "a", "owner": 7}


def test_a_class_may_ignore_what_it_does_not_know() -> None:
    assert read(Tolerant, {"WIDTH": 3, "height": 4}) == Tolerant(3)


def test_text_that_is_not_json_is_refused() -> None:
    assert read_json(Point, b'{"x": 1}') == Point(1)
    with pytest.raises(InvalidDataError, match="should be JSON"):
        read_json(Point, b"{")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("xy") | st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.sampled_from([*Drawing.__slots__, "ownerId"]), JSON))
def test_whatever_comes_is_read_or_refused(value: dict[str, Any]) -> None:
    with suppress(InvalidDataError):
        drawn = read(Drawing, {"name": "a", **value})
        assert read(Drawing, to_json(drawn)) == drawn or drawn.scale != drawn.scale  # NaN


def test_true_is_no_number() -> None:
    @dataclass(frozen=True)
    class Numbers:
        whole: int = 0
        real: float = 0.0

    for name in ("whole", "real"):
        with pytest.raises(InvalidDataError):
            read(Numbers, {name: True})
