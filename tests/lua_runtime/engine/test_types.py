"""What counts as an object's type, and other small promises."""

import json

import pytest

from lua_runtime.cores import Bench
from lua_runtime.engine.test_variables import create


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("{}", ""),
        ("{type = 'Own'}", "Own"),
        ("{type = 5}", ""),
        ("setmetatable({type = 'Own'}, {type = 'Meta'})", "Meta"),
        ("setmetatable({}, {__index = {type = 'Inherited'}})", "Inherited"),
        ("setmetatable({}, setmetatable({}, {__index = {type = 'Above'}}))", "Above"),
        ("setmetatable({}, {__index = function() error('asked') end})", ""),
        ("setmetatable({}, {__metatable = 'locked', type = 'Locked'})", "Locked"),
    ],
)
@pytest.mark.covers("UI-LUA-4")
def test_the_type_is_found_without_running_app_code(bench: Bench, table: str, expected: str) -> None:
    bench.run(f"mcp.x = {table}")
    page = bench.open(expand=False)
    bench.send(create(2, "x"))

    assert page.properties.get(2, {}).get("type", "") == expected
    assert page.errors == []


@pytest.mark.covers("UI-MCPG-8")
def test_themes_and_topics_are_passed_on(bench: Bench) -> None:
    assert bench.run("mcp:reinjectThemes() return mcp:subscribe('news', print)") is True

    assert [(kind, text) for kind, text, _ in bench.out] == [("themes", ""), ("subscribed", '{"topic":"news"}')]


@pytest.mark.covers("UI-WIRE-10")
def test_what_a_page_says_about_its_view_is_not_echoed(bench: Bench) -> None:
    page = bench.open(expand=False)
    bench.send(create(2, "type"))
    seen = page.messages

    bench.send({"type": "update", "data": {"varId": 2, "properties": {"viewdef": "X.DEFAULT"}}})

    assert page.messages == seen


@pytest.mark.covers("UI-EXEC-4")
def test_without_a_page_nothing_is_read(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<b ui-value="look()"></b>')
    bench.run("looks = 0 App = session:prototype('App', {}) function App:look() looks = looks + 1 return looks end")
    bench.run("mcp.value = App:new()")
    assert bench.run("return looks") == 0

    bench.open()
    bench.must("refresh")
    bench.must("close", 1)
    before = bench.run("return looks")

    assert bench.run("return looks") == before > 0


@pytest.mark.covers("UI-ROB-4")
def test_objects_nobody_shows_are_let_go(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<ul ui-viewlist="rows"></ul>', Row__DEFAULT='<b ui-value="n"></b>')
    bench.run("App = session:prototype('App', {}) Row = session:prototype('Row', {}) app = App:new() mcp.value = app")
    bench.run("made = setmetatable({}, {__mode = 'k'})")
    bench.open()

    bench.run("app.rows = {} for i = 1, 50 do app.rows[i] = Row:new({n = i}) made[app.rows[i]] = true end")
    bench.run("app.rows = nil")
    bench.run("collectgarbage() collectgarbage()")

    assert bench.run("return made") == {}
    assert len(bench.must("variables")) == 3


def test_json_text_from_a_page_is_read_exactly(bench: Bench) -> None:
    bench.open(expand=False)
    values = [0, -0.5, 1e300, "", '\u0000\u001f"\\/\u2028é😀', [[], {}, [None]], {"n": 3, "": 1}, True, None]
    bench.send(create(2, "got"))

    bench.send({"type": "update", "data": {"varId": 2, "value": values}})

    assert bench.run("return ui.json_encode(mcp.got)") == json.dumps(
        [0, -0.5, 1e300, "", '\u0000\u001f"\\/\u2028é😀', [{}, {}, {}], {"": 1, "n": 3}, True],
        separators=(",", ":"),
        ensure_ascii=False,
    )
