# ruff: noqa: E501 - templates read better on one line
"""`ui-for` and `ui-if`: rows and parts of a view that are written in place."""

import pytest

from lua_runtime.cores import Bench
from lua_runtime.page import Page

APP = """
App = session:prototype("App", {title = "list", rows = EMPTY, open = false, picked = 0})
function App:names() return {"milk", "bread"} end
function App:pick(id) self.picked = id end
app = App:new()
app.rows = {{id = 1, name = "a", tags = {"x", "y"}}, {id = 2, name = "b", tags = {}}}
mcp.value = app
"""


def numbers(page: Page, key: str) -> list[int]:
    return [node.number for node in page.views.values() if node.key == key]


@pytest.mark.covers("UI-VIEW-20")
def test_rows_written_in_place_show_tables_without_a_type(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<table><tbody ui-for="rows"><tr><td ui-value="name"></td><td ui-value="..title"></td></tr></tbody></table>'
    )
    bench.run(APP)

    page = bench.open()

    key = "App.DEFAULT.for-0"
    assert page.errors == []
    assert page.tree()[1][0][1] == [["rows", [key, ["a", "list"], {}], [key, ["b", "list"], {}]]]
    assert page.viewdefs["App.DEFAULT"].endswith(
        '<tbody data-ui-b="0 ui-viewlist" ui-viewlist="rows"></tbody></table></template>'
    )
    bench.run("app.rows[2].name = 'changed' app.title = 'new' table.remove(app.rows, 1)")
    assert page.tree()[1][0][1] == [["rows", [key, ["changed", "new"], {}]]]


@pytest.mark.covers("UI-VIEW-20")
def test_texts_are_rows_too_and_lists_nest(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<ul ui-for="names()"><li ui-value="value"></li><li ui-value="index"></li></ul>'
        '<div ui-for="rows"><p><b ui-for="tags"><i ui-value="value"></i></b><button ui-action="..pick(id)">x</button></p></div>'
    )
    bench.run(APP)
    page = bench.open()

    names, rows = page.tree()[1][0][1]
    assert [row[1] for row in names[1:]] == [["milk", 1], ["bread", 2]]
    assert rows[1][1][0][1:] == [["App.DEFAULT.for-1.for-0", [tag], {}] for tag in "xy"]
    bench.send([numbers(page, "App.DEFAULT.for-1")[1], 1])
    assert bench.run("return app.picked") == 2
    assert page.errors == []


@pytest.mark.covers("UI-VIEW-20")
def test_a_row_knows_its_number_unless_it_has_one(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<ul ui-for="rows"><li><i ui-value="index"></i><button ui-action="..pick(index)">x</button></li></ul>'
    )
    bench.run(APP)
    page = bench.open()
    assert [row[1][0] for row in page.tree()[1][0][1][0][1:]] == [1, 2]

    bench.run("table.remove(app.rows, 1) table.insert(app.rows, {index = 'own'})")
    bench.send([numbers(page, "App.DEFAULT.for-0")[0], 1])

    assert [row[1][0] for row in page.tree()[1][0][1][0][1:]] == [1, "own"]
    assert bench.run("return app.picked") == 1


@pytest.mark.covers("UI-VIEW-20")
def test_a_part_is_there_while_its_condition_holds(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<p ui-if="open" class="big"><b ui-value="title"></b></p><input ui-if="picked > 1" ui-value="title">'
    )
    bench.run(APP)
    page = bench.open()
    assert page.tree()[1][0][1] == [None, None]

    bench.run("app.open = true app.picked = 2")
    assert page.tree()[1][0][1] == [["App.DEFAULT.if-0", ["list"], {}], ["App.DEFAULT.if-1", ["list"], {}]]
    bench.send([numbers(page, "App.DEFAULT.if-1")[0], 0, "typed"])
    assert bench.run("return app.title") == "typed"
    bench.run("app.open = false")
    assert page.tree()[1][0][1][0] is None
    assert page.viewdefs["App.DEFAULT.if-0"].startswith('<template><p class="big">')


@pytest.mark.covers("UI-VIEW-20")
def test_a_condition_in_a_row_follows_the_rows_object_and_is_no_step_of_a_path(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<ul ui-for="rows"><li><b ui-if="id > 1"><i ui-value="name"></i><u ui-value="..title"></u></b></li></ul>'
    )
    bench.run(APP)
    page = bench.open()

    def inner() -> list[object]:
        return [row[1][0] and row[1][0][1] for row in page.tree()[1][0][1][0][1:]]

    assert inner() == [None, ["b", "list"]]
    bench.run("app.rows = {app.rows[2], app.rows[1]}")
    assert inner() == [["b", "list"], None]
    bench.run("app.rows = {{id = 5, name = 'e'}, {id = 6, name = 'f'}}")
    assert inner() == [["e", "list"], ["f", "list"]]
    assert page.errors == []
