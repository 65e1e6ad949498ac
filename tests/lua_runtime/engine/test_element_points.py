"""The points of a `ui-chart`: what is sent when they change, and what is not."""

from typing import Any

import pytest

from lua_runtime.cores import Bench
from lua_runtime.page import Page

APP = """
App = session:prototype("App", {})
app = App:new()
app.months = { { month = "Jan", food = 3, travel = 5 }, { month = "Feb", food = 4 } }
mcp.value = app
"""


def opened(bench: Bench, app: str = APP) -> Page:
    bench.viewdefs(App__DEFAULT='<ui-chart ui-value="months"></ui-chart>')
    bench.run(app)
    return bench.open()


def sent(page: Page) -> Any:
    return next(node for node in page.views.values() if node.key == "App.DEFAULT").values[0]


@pytest.mark.covers("UI-ELEM-3")
def test_rows_and_numbers_are_sent_with_their_names(bench: Bench) -> None:
    page = opened(bench)
    assert sent(page) == {
        "names": ["food", "month", "travel"],
        "columns": [[3, 4], ["Jan", "Feb"], [5, None]],
    }
    bench.run("app.months = { 1, 2.5 }")
    assert sent(page) == {"names": ["value"], "columns": [[1, 2.5]]}
    bench.run("app.months = 7")
    assert sent(page) == {"names": ["value"], "columns": [[7]]}
    bench.run("app.months = nil")
    assert sent(page) == {"names": [], "columns": []}


@pytest.mark.covers("UI-ELEM-3")
def test_only_points_that_came_or_went_are_sent(bench: Bench) -> None:
    page = opened(bench)
    before = page.messages
    bench.run("local nothing = 1")
    assert page.messages == before
    bench.run("table.insert(app.months, { month = 'Mar', food = 1, travel = 2 })")
    assert sent(page) == {"drop": 0, "append": [[1], ["Mar"], [2]]}
    bench.run("table.remove(app.months, 1) table.insert(app.months, { month = 'Apr', food = 9 })")
    assert sent(page) == {"drop": 1, "append": [[9], ["Apr"], [None]]}
    bench.run("table.remove(app.months, 1)")
    assert sent(page) == {"drop": 1, "append": [[], [], []]}
    bench.run("app.months[1].food = 100")
    assert [column[0] for column in sent(page)["columns"]] == [100, "Mar", 2]


@pytest.mark.covers("UI-ELEM-3")
def test_a_second_page_gets_all_points(bench: Bench) -> None:
    opened(bench)
    bench.run("table.insert(app.months, { month = 'Mar', food = 1, travel = 2 })")
    assert len(sent(bench.open(2))["columns"][0]) == 3


@pytest.mark.covers("UI-ELEM-3")
def test_what_is_no_list_is_an_error_of_the_chart(bench: Bench) -> None:
    page = opened(bench, APP.replace("mcp.value", "app.months = { food = 3 } mcp.value"))
    assert page.errors[0]["description"].startswith("a chart shows a list of numbers or rows; a single row")


@pytest.mark.covers("UI-ELEM-3")
def test_numbers_arrive_with_fourteen_digits_and_what_is_none_as_nothing(bench: Bench) -> None:
    page = opened(bench, APP.replace("mcp.value", "app.months = { 0.1 + 0.2, 2 ^ 53, 1 / 0, 0 / 0, -2.5 } mcp.value"))
    assert sent(page) == {"names": ["value"], "columns": [[0.3, 2**53, None, None, -2.5]]}


@pytest.mark.covers("UI-ELEM-3")
def test_a_chart_that_moves_on_sends_only_its_new_points(bench: Bench) -> None:
    page = opened(bench, APP.replace("mcp.value", "for i = 1, 100 do app.months[i] = { n = i } end mcp.value"))
    for i in range(101, 111):
        bench.run(f"table.remove(app.months, 1) table.remove(app.months, 1) table.insert(app.months, {{ n = {i} }})")
        assert sent(page) == {"drop": 2, "append": [[i]]}
