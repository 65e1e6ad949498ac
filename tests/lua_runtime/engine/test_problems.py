"""Every error of an app is reported with its place, and withdrawn when it is gone."""

import json
from typing import Any

import pytest

from lua_runtime.cores import Bench

APP = """
X = session:prototype("X", {n = 1, name = "x"})
function X:total() return self.n end
function X:fail() error("boom") end
function X:check() if self.bad then error("bad") end return "fine" end
if not session.reloading then x = X:new() end
"""


def shown(bench: Bench, html: str, text: str = APP) -> str:
    file = bench.folder / "apps" / "x" / "app.lua"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    bench.viewdefs(X__DEFAULT=html)
    bench.must("display", "x")
    bench.open()
    return str(file)


def problems(bench: Bench) -> list[dict[str, Any]]:
    """What is wrong now."""
    found: dict[str, dict[str, Any]] = {}
    for kind, text, _ in bench.out:
        if kind == "problem":
            one = json.loads(text)
            found[one["id"]] = one
        elif kind == "resolved":
            found.pop(text, None)
    return list(found.values())


def told(bench: Bench, *names: str) -> list[list[Any]]:
    return [[one.get(name) for name in names] for one in problems(bench)]


@pytest.mark.covers("UI-ERR-1")
def test_a_failing_action_names_its_attribute_line_and_lua_line(bench: Bench) -> None:
    shown(bench, '<div>\n<button ui-action="fail()">Go</button></div>')

    root = bench.pages[1].root
    assert root is not None
    bench.send([root.values[0].number, 0])

    assert told(bench, "kind", "level", "file", "line", "expression", "message", "source") == [
        ["action", "error", "viewdefs/X.DEFAULT.html", 2, 'ui-action="fail()"', "boom", "apps/x/app.lua:4"]
    ]


@pytest.mark.covers("UI-ERR-1")
def test_a_missing_method_is_answered_with_the_one_that_was_meant(bench: Bench) -> None:
    shown(bench, '<b ui-value="totl()"></b>')

    assert told(bench, "kind", "message", "hint") == [["binding", "no method 'totl' of X", "Did you mean total()?"]]


@pytest.mark.covers("UI-ERR-1")
def test_a_binding_that_works_again_is_withdrawn(bench: Bench) -> None:
    shown(bench, '<b ui-value="check()"></b>')
    bench.run("x.bad = true")
    assert told(bench, "kind", "message") == [["binding", "bad"]]

    bench.run("x.bad = nil")

    assert problems(bench) == []


@pytest.mark.covers("UI-ERR-1")
def test_a_row_that_fails_in_two_pages_is_one_problem_until_both_are_gone(bench: Bench) -> None:
    shown(bench, '<b ui-value="check()"></b>')
    bench.open(2)
    bench.run("x.bad = true")
    assert len(problems(bench)) == 1

    bench.run("x.bad = nil")

    assert problems(bench) == []


@pytest.mark.covers("UI-ERR-1")
def test_a_failing_timer_is_reported_and_withdrawn_when_it_works(bench: Bench) -> None:
    shown(bench, "<b>x</b>", APP + "\nsession:setInterval(function() x:check() end, 1000)")
    (handle,) = [int(text) for kind, text, _ in bench.out if kind == "timer"]
    bench.run("x.bad = true")
    bench.enter("timer", handle)
    assert told(bench, "kind", "app", "file", "line", "message") == [["timer", "x", "apps/x/app.lua", 5, "bad"]]

    bench.run("x.bad = nil")
    bench.enter("timer", handle)

    assert problems(bench) == []


@pytest.mark.covers("UI-ERR-1")
def test_a_missing_viewdef_is_withdrawn_when_it_comes(bench: Bench) -> None:
    rows = APP + "\nR = session:prototype('R', {}) x.rows = {R:new()}"
    shown(bench, '<div ui-viewlist="rows"></div>', rows)
    assert told(bench, "kind", "app", "file") == [["viewdef", "x", "apps/x/viewdefs/R.DEFAULT.html"]]

    bench.viewdefs(R__DEFAULT="<p>r</p>")

    assert problems(bench) == []


@pytest.mark.covers("UI-ERR-1")
def test_a_path_that_is_none_is_reported_once(bench: Bench) -> None:
    shown(bench, '<b ui-value="n ? 1 : 2"></b>')
    bench.open(2)

    assert told(bench, "kind", "expression", "message") == [
        ["binding", 'ui-value="n ? 1 : 2"', "'n ? 1 : 2' is not a path"]
    ]


@pytest.mark.covers("UI-ERR-1")
def test_a_page_reports_failed_code_with_its_binding(bench: Bench) -> None:
    shown(bench, '<i ui-code="name"></i>')
    found = {"kind": "code", "key": "X.DEFAULT", "pos": 0, "message": "TypeError: f is not a function"}

    bench.send({"type": "update", "data": {"varId": 1, "properties": {"problems": json.dumps(found)}}})

    assert told(bench, "kind", "file", "line", "expression", "message") == [
        ["code", "viewdefs/X.DEFAULT.html", 1, 'ui-code="name"', "TypeError: f is not a function"]
    ]


@pytest.mark.covers("UI-ERR-1")
@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"kind":"code"}', '{"kind":"odd","message":"x"}', '{"kind":1,"message":2}']
)
def test_reports_of_pages_that_make_no_sense_are_dropped(bench: Bench, text: str) -> None:
    shown(bench, "<b>x</b>")

    bench.send({"type": "update", "data": {"varId": 1, "properties": {"problems": text}}})

    assert problems(bench) == []


@pytest.mark.covers("UI-ERR-1")
def test_an_action_that_works_is_withdrawn_even_in_another_view(bench: Bench) -> None:
    shown(bench, '<button ui-action="fail()">Go</button>')
    for _ in range(2):
        root = bench.pages[1].root
        assert root is not None
        bench.send([root.values[0].number, 0])
        bench.run("mcp.value = nil")
        bench.run("mcp.value = x")
    assert len(problems(bench)) == 1
    bench.run("function X:fail() end")

    root = bench.pages[1].root
    assert root is not None
    bench.send([root.values[0].number, 0])

    assert problems(bench) == []
