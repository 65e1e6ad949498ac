"""Paths with arguments, negations and comparisons."""

from typing import Any

import pytest

from lua_runtime.cores import Bench

APP = """
App = session:prototype("App", {status = "open", count = 3, typed = "12", empty = "", nothing = nil, list = EMPTY})
function App:sort(...) self.sorted = {...} end
function App:add(a, b) return a + (b or 0) end
function App:show(...) return table.concat({...}, "|") end
function App:owner() return self end
function App:first() return 40 end
Row = session:prototype("Row", {id = 7})
app = App:new()
mcp.value = app
"""


@pytest.mark.covers("UI-PATH-9")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("add(1)", 1),
        ("add(count, 4)", 7),
        ("add(first(), -1.5)", 38.5),
        ("owner().add(owner().count, 2)", 5),
        ("show('a, b)', \"it's?\", 3)", "a, b)|it's?|3"),
        ('show("date")', "date"),
        ("!empty", True),
        ("!status", False),
        ("!nothing", True),
        ("!owner().status", False),
        ("status == 'open'", True),
        ("status != 'open'", False),
        ("status ~= 'shut'", True),
        ("count > 2", True),
        ("count <= 2", False),
        ("typed > 9", True),
        ("3 == count", True),
        ("count == first()", False),
        ("nothing == nil", True),
        ("nothing < 3", False),
        ("add(1) >= 1", True),
    ],
)
def test_a_path_has_arguments_a_negation_or_a_comparison(bench: Bench, path: str, value: Any) -> None:
    bench.viewdefs(App__DEFAULT=f'<p ui-value="{path.replace(chr(34), "&quot;")}"></p>')
    bench.run(APP)

    page = bench.open()

    assert page.errors == []
    assert page.tree()[1][0][1] == [value]


@pytest.mark.covers("UI-PATH-9")
@pytest.mark.parametrize(
    "path",
    ["add(1 + 2)", "add(add(1))", "a == b == c", "!a == b", "a and b", "!", "== 1", "add('x)", "f(1", "a ? 'x' : 'y'"],
)
def test_anything_else_is_an_error_of_its_element_alone(bench: Bench, path: str) -> None:
    bench.viewdefs(App__DEFAULT=f'<p ui-value="{path}"></p><p ui-value="count"></p>')
    bench.run(APP)

    page = bench.open()

    assert [error["code"] for error in page.errors] == ["invalid"]
    assert page.tree()[1][0][1][1] == 3


@pytest.mark.covers("UI-PATH-9")
def test_an_action_passes_its_arguments_and_the_value_of_its_element(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<button ui-action="sort(&quot;date&quot;, count, nil, true)"></button>'
        '<input ui-event-change="sort(\'by\', _)"><ul ui-viewlist="list"></ul>',
        Row__DEFAULT='<li><button ui-action="....sort(id)"></button></li>',
    )
    bench.run(APP + "app.list = {Row:new()}")
    page = bench.open()
    number = next(node.number for node in page.views.values() if node.key == "App.DEFAULT")
    row = next(node.number for node in page.views.values() if node.key == "Row.DEFAULT")

    bench.send([number, 0])
    assert bench.run("return #app.sorted .. app.sorted[1] .. app.sorted[2] .. tostring(app.sorted[4])") == "4date3true"
    bench.send([number, 1, "name"])
    assert bench.run("return app.sorted[2]") == "name"
    bench.send([row, 0])
    assert bench.run("return app.sorted[1]") == 7
    assert page.errors == []


@pytest.mark.covers("UI-PATH-9")
def test_what_is_computed_cannot_be_written(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<input ui-value="!empty"><button ui-action="!empty"></button>')
    bench.run(APP)

    page = bench.open()

    assert [(error["pos"], error["code"]) for error in page.errors] == [(1, "invalid")]
    number = next(node.number for node in page.views.values() if node.key == "App.DEFAULT")
    bench.send([number, 0, False])
    assert page.errors[-1]["code"] == "unauthorized"
