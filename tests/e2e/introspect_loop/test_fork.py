"""An agent tries something in a fork, compares it with the session that people use, and throws it away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.introspect_loop.test_loop import build, configure
from integration.lineclient import LineClient
from introspection.demos import needs

pytestmark = [pytest.mark.slow, pytest.mark.covers("STATE-6")]
ADD = {"type": "click", "target": {"css": "#add"}}


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[LineClient]:
    needs("chromium")
    configure(tmp_path, "")
    build(tmp_path)
    with LineClient(cwd=tmp_path) as client:
        client.call("ui_start")
        client.call("ui_display", name="tally")
        client.call("ui_run", code="tally.count = 40")
        yield client


def shows(count: int) -> dict[str, object]:
    return {"expect": {"selector": {"css": "#count"}, "text": str(count)}}


def test_a_scenario_in_a_fork_tells_how_it_differs_and_leaves_the_session_alone(agent: LineClient) -> None:
    fork = agent.call("ui_undo", action="fork")["sessionId"]

    tried = agent.call("ui_test", steps=[shows(40), ADD, shows(42)], sessionId=fork)

    assert (tried["ok"], tried["steps"]) == (True, 3)
    lines = [" ".join(line.split()) for line in tried["differs"].splitlines()]
    assert {'- p #count "40"', '+ p #count "42"'} <= set(lines)
    assert agent.call("ui_run", code="return tally.count") == 40
    assert agent.call("ui_undo", action="discard", sessionId=fork) == {"discarded": fork}
    assert agent.call("ui_test", steps=[shows(40)]) == {"ok": True, "steps": 1}


def test_a_scenario_that_fails_in_a_fork_shows_the_fork(agent: LineClient) -> None:
    fork = agent.call("ui_undo", action="fork")["sessionId"]

    failed = agent.request(
        "tools/call", {"name": "ui_test", "arguments": {"steps": [ADD, shows(41)], "sessionId": fork}}
    )

    assert failed["isError"]
    assert "42" in failed["content"][1]["text"]


def test_a_session_that_does_not_exist_is_named(agent: LineClient) -> None:
    failed = agent.request("tools/call", {"name": "ui_test", "arguments": {"steps": [ADD], "sessionId": "7"}})

    assert failed["isError"]
    assert "session 7 not found" in failed["content"][0]["text"]
