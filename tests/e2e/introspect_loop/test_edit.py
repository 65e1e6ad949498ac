"""`ui_edit` in real browsers: from nothing to a seen app, errors of the page, and pictures."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from chromium import launched
from e2e.introspect_loop.test_loop import APP, VIEW, configure
from integration.lineclient import LineClient
from introspection.demos import needs

pytestmark = pytest.mark.slow
QUIET = VIEW.replace('    <script>console.error("greeting is not a function")</script>\n', "")
FILES = [{"path": "app.lua", "text": APP}, {"path": "viewdefs/Tally.DEFAULT.html", "text": QUIET}]


def edited(agent: LineClient, *changes: dict[str, str], **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = agent.call("ui_edit", app="tally", changes=list(changes), **options)
    return answer


@pytest.mark.covers("UI-EDIT-6")
def test_one_call_goes_from_nothing_to_a_seen_app_and_the_next_tells_what_changed(tmp_path: Path) -> None:
    needs("chromium")
    configure(tmp_path, "")
    with LineClient(cwd=tmp_path) as agent:
        first = edited(agent, *FILES, show=True)
        second = edited(agent, {"path": "viewdefs/Tally.DEFAULT.html", "old": "Add one", "new": "Add two"})
        broken = edited(
            agent, {"path": "viewdefs/Tally.DEFAULT.html", "old": 'ui-value="count"', "new": 'ui-value="count.x.y"'}
        )
        result = agent.request(
            "tools/call",
            {"name": "ui_edit", "arguments": {"app": "tally", "undo": True, "picture": True}},
        )

    assert '"Add one"' in first["outline"]
    assert [line.split()[0] for line in second["outline"].splitlines() if line[0] != " "] == ["-", "+"]
    assert '"Add two"' in second["outline"]
    assert broken["failed_bindings"] or '#count "0"' in broken["outline"]
    text, picture = result["content"]
    assert json.loads(text["text"])["ok"] is True
    assert b64decode(picture["data"]).startswith(b"\x89PNG")


@pytest.mark.covers("UI-EDIT-6")
def test_errors_of_the_page_that_a_person_has_open_come_with_the_answer(tmp_path: Path) -> None:
    needs("chromium")
    configure(tmp_path, "")
    with LineClient(cwd=tmp_path) as agent, launched() as chromium:
        edited(agent, *FILES)
        url = agent.call("ui_start")
        agent.call("ui_display", name="tally")
        person = chromium.new_page()
        person.goto(url)
        person.wait_for_selector("#add")
        person.click("#add")
        edited(agent, {"path": "app.lua", "old": "count + 2", "new": "count + 1"})

        answer = edited(agent, {"path": "viewdefs/Tally.DEFAULT.html", "text": VIEW})

        assert answer["console"] == ["console: greeting is not a function"]
        assert person.inner_text("#count") == "2", "the state is kept"
