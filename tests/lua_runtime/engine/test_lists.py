"""Lists of a view: rows that stay keep their views, so that the page keeps their elements with focus and caret."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lua_runtime.cores import Bench
from lua_runtime.page import Page

APP = """
App = session:prototype("App", {rows = EMPTY})
app = App:new()
app.rows = {}
mcp.value = app
function fill(n) app.rows = {} for i = 1, n do app.rows[i] = {name = "row " .. i} end end
"""
IN_PLACE = '<ul ui-for="rows"><li><i ui-value="name"></i><b ui-value="index"></b></li></ul>'
KEY = "App.DEFAULT.for-0"


def opened(bench: Bench, count: int) -> Page:
    bench.viewdefs(App__DEFAULT=IN_PLACE)
    bench.run(APP + f"fill({count})")
    return bench.open()


def shown(page: Page) -> list[Any]:
    return [row[1] for row in page.tree()[1][0][1][0][1:]]


def numbers(page: Page) -> list[int]:
    """The numbers of the rows' views, from the first row to the last."""
    root: Any = page.root
    return [row.number for row in root.values[0].values[0][1:]]


@pytest.mark.covers("UI-VIEW-21")
def test_a_row_taken_out_leaves_the_views_of_the_others(bench: Bench) -> None:
    page = opened(bench, 4)
    before = numbers(page)

    bench.run("table.remove(app.rows, 2)")

    assert shown(page) == [["row 1", 1], ["row 3", 2], ["row 4", 3]]
    assert numbers(page) == [before[0], *before[2:]]


@pytest.mark.covers("UI-VIEW-21")
def test_rows_put_in_at_the_top_leave_the_views_of_the_others(bench: Bench) -> None:
    page = opened(bench, 2)
    before = numbers(page)

    bench.run("table.insert(app.rows, 1, {name = 'new'}) table.insert(app.rows, 2, {name = 'newer'})")

    assert shown(page) == [["new", 1], ["newer", 2], ["row 1", 3], ["row 2", 4]]
    assert numbers(page)[2:] == before


@pytest.mark.covers("UI-VIEW-21")
def test_texts_in_a_list_are_counted_again_after_a_splice(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<ul ui-for="rows"><li><i ui-value="value"></i><b ui-value="index"></b></li></ul>')
    bench.run(APP + "app.rows = {'a', 'b', 'c', 'd'}")
    page = bench.open()

    bench.run("table.remove(app.rows, 2)")

    assert shown(page) == [["a", 1], ["c", 2], ["d", 3]]


KINDS = ("insert", "remove", "replace", "swap", "clear")
EDITS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 9)), max_size=9)


def edit(names: list[str], kind: str, place: int, name: str) -> str:
    """Do something to a list of names and return the Lua code that does the same."""
    at = place % (len(names) + 1)
    if kind == "insert":
        names.insert(at, name)
        return f"table.insert(app.rows, {at + 1}, {{name = '{name}'}})"
    if kind == "clear" or at == len(names):
        names.clear()
        return "app.rows = {}"
    if kind == "remove":
        names.pop(at)
        return f"table.remove(app.rows, {at + 1})"
    if kind == "replace":
        names[at] = name
        return f"app.rows[{at + 1}] = {{name = '{name}'}}"
    names[0], names[at] = names[at], names[0]
    return f"app.rows[1], app.rows[{at + 1}] = app.rows[{at + 1}], app.rows[1]"


@pytest.mark.covers("UI-VIEW-21")
@given(st.integers(0, 6), st.lists(EDITS, max_size=6))
def test_whatever_is_done_to_a_list_the_page_shows_it(
    tmp_path_factory: pytest.TempPathFactory, count: int, batches: list[list[tuple[str, int]]]
) -> None:
    bench = Bench(Path(tmp_path_factory.mktemp("list")))
    page = opened(bench, count)
    names = [f"row {number}" for number in range(1, count + 1)]
    for turn, batch in enumerate(batches):
        code = [edit(names, kind, place, f"new {turn} {step}") for step, (kind, place) in enumerate(batch)]
        bench.run(" ".join(code))

        assert shown(page) == [[name, number] for number, name in enumerate(names, 1)]
        assert page.errors == []
