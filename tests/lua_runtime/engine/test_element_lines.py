"""The lines of a `ui-log`: only those that came are sent."""

from typing import Any

import pytest

from lua_runtime.cores import Bench
from lua_runtime.page import Page

APP = """
App = session:prototype("App", {})
app = App:new()
app.lines = { "one", "two" }
mcp.value = app
"""


def opened(bench: Bench) -> Page:
    bench.viewdefs(App__DEFAULT='<ui-log ui-value="lines"></ui-log>')
    bench.run(APP)
    return bench.open()


def sent(page: Page) -> Any:
    return next(node for node in page.views.values() if node.key == "App.DEFAULT").values[0]


@pytest.mark.covers("UI-ELEM-7")
def test_added_and_dropped_lines_are_sent_alone(bench: Bench) -> None:
    page = opened(bench)
    assert sent(page) == {"skipped": 0, "lines": ["one", "two"]}
    bench.run("table.insert(app.lines, 'three')")
    assert sent(page) == {"drop": 0, "append": ["three"]}
    bench.run("table.remove(app.lines, 1) table.insert(app.lines, { text = 'four' })")
    assert sent(page) == {"drop": 1, "append": ["four"]}
    before = page.messages
    bench.run("local nothing = 1")
    assert page.messages == before
    bench.run("app.lines[2] = 'changed'")
    assert sent(page) == {"skipped": 0, "lines": ["two", "changed", "four"]}
    assert sent(bench.open()) == {"skipped": 0, "lines": ["two", "changed", "four"]}


@pytest.mark.covers("UI-ELEM-7")
def test_a_text_is_split_and_only_the_end_of_a_long_log_is_sent(bench: Bench) -> None:
    page = opened(bench)
    bench.run("app.lines = 'a\\n\\nb\\n'")
    assert sent(page)["lines"] == ["a", "", "b"]
    bench.run("app.lines = {} for i = 1, 6000 do app.lines[i] = 'line ' .. i end")
    assert (sent(page)["skipped"], len(sent(page)["lines"]), sent(page)["lines"][-1]) == (1000, 5000, "line 6000")
    bench.run("app.lines[6001] = 'line 6001'")
    assert sent(page) == {"drop": 1, "append": ["line 6001"]}
