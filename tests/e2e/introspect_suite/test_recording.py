"""What an agent does is recorded as a scenario, in every toolkit."""

import re

import pytest

from introspection.demos import Demo
from ui_mcp.introspection.perform import play
from ui_mcp.introspection.recording.recorded_target import start, stop
from ui_mcp.jsontypes import dumps

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.mark.covers("IN-147")
async def test_an_agents_actions_become_a_scenario_that_plays_again(demo: Demo) -> None:
    await start(demo.target)
    await demo.do({"type": "setText", "target": await demo.uid("#name"), "text": "Ann"})
    await demo.do({"type": "setChecked", "target": await demo.uid("#news"), "checked": True})
    await demo.click("#modal")
    await demo.click("#yes")
    await demo.click("#add")
    await demo.click("#remove")
    recording = await stop(demo.target)
    # As it was before, so that every expectation has something to tell.
    await demo.do({"type": "setChecked", "target": await demo.uid("#news"), "checked": False})

    texts = [dumps(step) for step in recording.steps]
    assert not [text for text in texts if re.search(r'"(uid|path|x|y)"', text)]
    assert [step["type"] for step in recording.steps if "type" in step] == [
        "setText", "setChecked", "click", "click", "click", "click",
    ]  # fmt: skip
    expected = [step["expect"] for step in recording.steps if "expect" in step]
    assert {"selector": {"text": "Are you sure?"}} in expected
    assert {"selector": {"css": "#status"}, "text": "yes"} in expected
    assert {"selector": {"text": "Grown"}} in expected
    assert {"selector": {"text": "Grown"}, "count": 0} in expected
    assert await play(demo.target, recording.steps, 30) is None


@pytest.mark.covers("IN-148")
async def test_what_is_typed_into_a_password_field_is_not_recorded(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    await start(demo.target)
    await demo.do({"type": "setText", "target": await demo.uid("#secret"), "text": "correct horse"})
    recording = await stop(demo.target)

    assert "horse" not in dumps(recording.json())
    (step,) = recording.steps
    failure = await play(demo.target, [step])
    assert failure is not None
    assert failure.error.details["reason"] == "NO_VALUE"
    monkeypatch.setenv(step["text"][2:-1], "battery staple")
    assert await play(demo.target, [step]) is None
    shown = await play(demo.target, [{**step, "target": {"css": "#name"}}])
    assert shown is not None
    assert shown.error.details["reason"] == "NOT_MASKED"


@pytest.mark.covers("IN-149")
async def test_a_failing_step_is_named_in_words(demo: Demo) -> None:
    failure = await play(
        demo.target, [{"type": "click", "target": {"role": "button", "text": "Nowhere", "row": "Ann"}}]
    )

    assert failure is not None
    assert failure.json()["does"] == 'click button "Nowhere" in row "Ann"'
    assert failure.step == 0
