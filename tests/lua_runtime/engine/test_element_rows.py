"""The rows of a `ui-table`: which part of a Lua list its page gets, and what it may ask for."""

from typing import Any

import pytest

from lua_runtime.cores import Bench
from lua_runtime.page import Node, Page

APP = """
App = session:prototype("App", {})
app = App:new()
app.rows = {
  { name = "pear", price = 3, sold = true, at = "2026-03-01" },
  { name = "Apple", price = 10, sold = false, at = "2026-01-05" },
  { name = "fig", price = 0.5, at = "2026-02-07" },
}
mcp.value = app
"""
PLAIN = '<ui-table ui-value="rows"></ui-table>'


def view(page: Page) -> Node:
    return next(node for node in page.views.values() if node.key == "App.DEFAULT")


def shown(page: Page) -> Any:
    return view(page).values[0]


def cells(page: Page, column: int = 1) -> list[Any]:
    return [row[column] for row in shown(page)["rows"]]


def opened(bench: Bench, app: str = APP, html: str = PLAIN) -> Page:
    bench.viewdefs(App__DEFAULT=html)
    bench.run(app)
    page = bench.open()
    assert page.errors == []
    return page


def ask(bench: Bench, page: Page, **question: Any) -> None:
    bench.send([view(page).number, 0, {"serial": 1, "from": 0, "count": 50, **question}])


@pytest.mark.covers("UI-ELEM-2")
def test_columns_and_their_types_are_found_in_the_rows(bench: Bench) -> None:
    page = opened(bench)

    assert shown(page)["columns"] == [
        {"name": "name", "type": "text"},
        {"name": "at", "type": "date"},
        {"name": "price", "type": "number"},
        {"name": "sold", "type": "boolean"},
    ]
    assert [row[1:] for row in shown(page)["rows"]] == [
        ["pear", "2026-03-01", 3, True],
        ["Apple", "2026-01-05", 10, False],
        ["fig", "2026-02-07", 0.5, None],
    ]


@pytest.mark.covers("UI-ELEM-2")
def test_lua_gives_columns_and_methods_are_columns_too(bench: Bench) -> None:
    app = """
    Item = session:prototype("Item", { price = 2 })
    function Item:double() return 2 * self.price end
    App = session:prototype("App", {})
    function App:table()
      return { rows = self.items, columns = { "double", { name = "price", label = "Costs", total = "sum" } } }
    end
    app = App:new() app.items = { Item:new(), Item:new({ price = 5 }) } mcp.value = app
    """
    page = opened(bench, app, '<ui-table ui-value="table()"></ui-table>')

    assert shown(page)["columns"] == [
        {"name": "double", "type": "number"},
        {"label": "Costs", "name": "price", "total": "sum", "type": "number"},
    ]
    assert cells(page) == [4, 10]
    assert shown(page)["totals"] == {"price": 7}


@pytest.mark.covers("UI-ELEM-2")
def test_rows_are_sorted_without_case_and_missing_values_come_last(bench: Bench) -> None:
    page = opened(bench)
    ask(bench, page, sort="name")
    assert cells(page) == ["Apple", "fig", "pear"]
    ask(bench, page, sort="price", descending=True)
    assert cells(page) == ["Apple", "pear", "fig"]
    ask(bench, page, sort="sold")
    assert cells(page) == ["Apple", "pear", "fig"]

    ask(bench, page, sort="price")
    bench.run("app.rows[1].price = 99")
    assert cells(page) == ["fig", "Apple", "pear"]


@pytest.mark.covers("UI-ELEM-2")
@pytest.mark.parametrize(
    ("text", "found"),
    [("pe", ["pear"]), ("=fig", ["fig"]), (">5", ["Apple"]), ("0.5..3", ["pear", "fig"]), ("<=0.5", ["fig"])],
)
def test_filters_compare_and_search_goes_over_all_columns(bench: Bench, text: str, found: list[str]) -> None:
    page = opened(bench)
    column = "name" if text[-1].isalpha() else "price"
    ask(bench, page, filters={column: text})
    assert cells(page) == found
    assert (shown(page)["matching"], shown(page)["all"]) == (len(found), 3)
    ask(bench, page, search="2026-02")
    assert cells(page) == ["fig"]


@pytest.mark.covers("UI-ELEM-2")
def test_groups_have_headings_with_totals_and_can_be_closed(bench: Bench) -> None:
    page = opened(bench)
    bench.run("app.rows[3].sold = true")
    ask(bench, page, group="sold", totals={"price": "sum"}, closed=["true"])

    rows = shown(page)["rows"]
    assert rows[0] == {"group": "true", "count": 2, "open": False, "totals": {"price": 3.5}}
    assert rows[1] == {"group": "false", "count": 1, "open": True, "totals": {"price": 10}}
    assert rows[2][1] == "Apple"
    assert shown(page)["totals"] == {"price": 13.5}


@pytest.mark.covers("UI-ELEM-2")
def test_only_the_rows_in_view_are_sent_and_one_changed_cell_is_one_message(bench: Bench) -> None:
    page = opened(bench)
    bench.run("app.rows = {} for i = 1, 100000 do app.rows[i] = { name = 'n' .. i, price = i } end")
    ask(bench, page, **{"from": 50000, "count": 10})
    assert (shown(page)["length"], shown(page)["from"], cells(page)[0]) == (100000, 50000, "n50001")

    before = page.messages
    bench.run("app.rows[50003].name = 'changed'")
    assert cells(page)[2] == "changed"
    bench.run("app.rows[7].name = 'out of sight'")
    assert page.messages == before + 1


@pytest.mark.covers("UI-ELEM-2")
def test_a_cursor_reads_a_part_of_a_million_rows(bench: Bench) -> None:
    app = """
    App = session:prototype("App", {})
    reads = 0
    app = App:new()
    app.big = { version = 1, page = function(_, from, count, query)
      reads = reads + 1
      local rows = {}
      for i = from, from + count - 1 do rows[#rows + 1] = { id = i, by = query.sort } end
      return rows, 1000000
    end }
    mcp.value = app
    """
    page = opened(bench, app, '<ui-table ui-value="big"></ui-table>')
    assert (shown(page)["length"], len(shown(page)["rows"])) == (1000000, 60)
    ask(bench, page, sort="id", **{"from": 999990, "count": 10})
    assert shown(page)["rows"][-1][1:] == [1000000, "id"]
    reads = bench.run("return reads")
    bench.run("local nothing = 1")
    assert bench.run("return reads") == reads
    bench.run("app.big.version = 2")
    assert bench.run("return reads") != reads


@pytest.mark.covers("UI-ELEM-2")
def test_an_edit_is_checked_by_lua_and_answered_once(bench: Bench) -> None:
    app = (
        APP
        + """
    function App:table()
      local price = { name = "price", check = function(v) if v < 0 then return "too cheap" end end }
      return { rows = self.rows, columns = { "name", price, { name = "sold", edit = false } } }
    end
    """
    )
    page = opened(bench, app, '<ui-table ui-value="table()"></ui-table>')
    row = shown(page)["rows"][0][0]
    number = view(page).number

    def edit(column: str, value: Any, of: int = row) -> Any:
        bench.send([number, 0, {"edit": {"row": of, "column": column, "value": value}}])
        return page.told[-1]["edited"]["problem"]

    assert edit("price", -1) == "too cheap"
    assert bench.run("return app.rows[1].price") == 3
    assert edit("price", 4) is None
    assert bench.run("return app.rows[1].price") == 4
    assert edit("sold", False) == "This column cannot be changed."
    assert edit("at", "x") == "There is no such column."
    assert edit("price", 4, of=99999) == "The row is gone."


@pytest.mark.covers("UI-ELEM-2")
def test_the_matching_rows_are_given_as_csv_in_order(bench: Bench) -> None:
    page = opened(bench)
    bench.run("app.rows[1].name = 'a \"b\", c'")
    ask(bench, page, sort="price", filters={"price": "<5"})
    ask(bench, page, csv=["name", "price"], labels=["Name", "Price"])
    assert page.told[-1] == {"csv": 'Name,Price\r\nfig,0.5\r\n"a ""b"", c",3\r\n'}


@pytest.mark.covers("UI-ELEM-2")
def test_what_is_no_list_is_an_error_of_that_element(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<ui-table ui-value="name"></ui-table><p ui-value="name"></p>')
    bench.run("App = session:prototype('App', { name = 'x' }) app = App:new() mcp.value = app")
    page = bench.open()
    assert page.errors[0]["description"] == "a table shows a list of rows, and this is a string"
    assert view(page).values[1] == "x"
    bench.run("app.name = { 'a', 2 }")
    assert [row[1:] for row in shown(page)["rows"]] == [["a"], [2]]
