"""What a person does in a Java program is recorded as a scenario that plays again."""

from collections.abc import AsyncIterator

import pytest

from introspection.cells import CELLS, cell
from introspection.demos import Demo, javafx_demo, swing_demo
from introspection.people import Person, person_at
from ui_mcp.introspection.backend import Watchable
from ui_mcp.introspection.perform import play
from ui_mcp.introspection.recording.recorded_target import start, stop
from ui_mcp.jsontypes import JsonObject, dumps

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture(scope="module", params=["swing", *CELLS])
async def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    folder = tmp_path_factory.mktemp("people")
    async with swing_demo(folder) if request.param == "swing" else javafx_demo(cell(request.param), folder) as made:
        yield made


@pytest.fixture(scope="module")
async def person(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Person]:
    async with person_at(demo, tmp_path_factory.mktemp("person")) as seated:
        yield seated


def actions(steps: tuple[JsonObject, ...]) -> list[JsonObject]:
    return [step for step in steps if "expect" not in step]


@pytest.mark.covers("IN-161")
async def test_a_persons_actions_become_a_scenario_that_plays_again(demo: Demo, person: Person) -> None:
    await start(demo.target)
    await person.click("#name")
    await person.type("ann lee")
    await person.click("#news")
    await person.click("#modal")
    await person.click("#yes")
    await person.click("#add")
    recording = await stop(demo.target)
    expected = [step["expect"] for step in recording.steps if "expect" in step]
    # As it was before, so that every expectation has something to tell.
    await demo.do({"type": "setChecked", "target": await demo.uid("#news"), "checked": False})
    await demo.do({"type": "setText", "target": await demo.uid("#name"), "text": ""})
    await demo.click("#remove")

    assert [step["type"] for step in actions(recording.steps)] == [
        "click", "setText", "setChecked", "click", "click", "click",
    ]  # fmt: skip
    assert actions(recording.steps)[1]["text"] == "ann lee"
    assert actions(recording.steps)[2]["checked"] is True
    assert {"selector": {"css": "#status"}, "text": "yes"} in expected
    assert {"selector": {"text": "Grown"}} in expected
    assert await play(demo.target, recording.steps, 30) is None
    assert (await demo.one("#name")).record["vt"] == "ann lee"


@pytest.mark.covers("IN-161")
async def test_what_a_person_types_where_it_is_hidden_never_leaves_the_program(demo: Demo, person: Person) -> None:
    told: list[JsonObject] = []
    backend = demo.target.backend
    assert isinstance(backend, Watchable)
    await backend.watch(told.append)
    await person.click("#secret")
    await person.type("horse")
    await backend.collect()
    await backend.watch(None)

    assert [event["masked"] for event in told if event["type"] == "setText"]
    assert "horse" not in dumps(told)


@pytest.mark.covers("IN-161")
async def test_a_password_is_a_variable_of_the_scenario(demo: Demo, person: Person) -> None:
    await start(demo.target)
    await person.click("#secret")
    await person.type("battery")
    recording = await stop(demo.target)

    assert actions(recording.steps)[-1]["text"].startswith("${UI_TEST_")


@pytest.mark.covers("IN-161")
async def test_a_row_that_a_person_clicks_is_named_by_what_it_shows(demo: Demo, person: Person) -> None:
    (row,) = await demo.find(text="Item 2", match="equals")

    await start(demo.target)
    await person.at("click", row.uid)
    await person.do("key DOWN")
    recording = await stop(demo.target)

    assert actions(recording.steps) == [
        {"type": "click", "target": {"text": "Item 2"}}, {"type": "pressKey", "key": "DOWN"}
    ]  # fmt: skip


@pytest.mark.covers("IN-161")
async def test_what_the_agent_does_meanwhile_is_recorded_once_and_nothing_afterwards(
    demo: Demo, person: Person
) -> None:
    await start(demo.target)
    await demo.click("#add")
    await person.click("#remove")
    recording = await stop(demo.target)
    await person.click("#add")
    await person.click("#remove")

    assert [step["type"] for step in actions(recording.steps)] == ["click", "click"]
    assert actions((await stop(demo.target)).steps) == []
