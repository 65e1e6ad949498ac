"""The list of all variables."""

import pytest

from lua_runtime.cores import Bench
from lua_runtime.engine.test_variables import create

FIELDS = {
    "id", "parentId", "type", "path", "value", "properties", "childIds", "error", "active", "access", "baseValue",
    "computeTime", "maxComputeTime", "changeCount", "depth", "elementId", "diags",
}  # fmt: skip


@pytest.fixture
def shown(bench: Bench) -> Bench:
    bench.viewdefs(
        App__DEFAULT='<b ui-value="n"></b><i ui-value="bad()"></i><ul ui-viewlist="rows"></ul>',
        Row__DEFAULT="<p ui-value='t'></p>",
    )
    bench.run("App = session:prototype('App', {n = 1}) Row = session:prototype('Row', {t = 'x'})")
    bench.run("function App:bad() error('no') end app = App:new({rows = {Row:new()}}) mcp.value = app")
    bench.open()
    return bench


@pytest.mark.covers("UI-HTTP-13", "UI-VAR-1", "UI-VAR-4", "UI-RES-3")
def test_every_variable_is_listed_parents_first(shown: Bench) -> None:
    shown.open(2, expand=False)
    shown.send(create(2, "value", elementId="ui-2"), create(3, "n", 2), conn=2)

    listed = shown.must("variables")

    assert [set(entry) - {"conn", "wireId"} for entry in listed] == [FIELDS] * len(listed)
    assert [entry["path"] for entry in listed] == ["", "value", "n", "bad()", "rows", "0", "t", "value", "n"]
    assert len({entry["id"] for entry in listed}) == len(listed)
    seen = {0}
    for entry in listed:
        assert entry["parentId"] in seen
        seen.add(entry["id"])
    by_path = {entry["path"]: entry for entry in listed}
    assert by_path[""]["id"] == 1
    assert by_path["t"]["value"] == "x"
    assert by_path["bad()"]["error"] == "mcp-run:1: no"
    assert (listed[-1]["conn"], listed[-1]["wireId"], listed[-2]["elementId"]) == (2, 3, "ui-2")
    assert by_path["0"]["type"] == "Row"
    children = {entry["id"]: entry["childIds"] for entry in listed}
    assert all(entry["id"] in children[entry["parentId"]] for entry in listed[1:])


@pytest.mark.covers("UI-HTTP-13")
def test_whatever_shows_an_object_tells_its_type(bench: Bench) -> None:
    bench.viewdefs(MCP__DEFAULT='<i ui-class-hidden="value"></i><b ui-view="value"></b><u ui-view="bare"></u>')
    bench.viewdefs(App__DEFAULT='<b ui-value="n"></b>')
    bench.run("App = session:prototype('App', {n = 1}) Bare = session:prototype('Bare', {})")
    bench.run("mcp.value, mcp.bare = App:new(), Bare:new()")
    bench.open()

    listed = bench.must("variables")

    shown = [(entry["path"], entry["type"], entry["properties"].get("type")) for entry in listed[1:]]
    assert shown == [("value", "App", "App"), ("value", "App", "App"), ("bare", "Bare", "Bare"), ("n", "", None)]
    assert [len(entry["childIds"]) for entry in listed[1:]] == [0, 1, 0, 0]


def test_changes_are_counted_always_and_times_taken_on_request(shown: Bench) -> None:
    shown.run("app.n = 2")
    shown.run("app.n = 3")
    counted = {entry["path"]: entry for entry in shown.must("variables")}
    assert (counted["n"]["changeCount"], counted["n"]["computeTime"]) == (2, None)

    shown.facts = shown.facts._replace(timing=True)
    shown.run("app.n = 4")
    timed = {entry["path"]: entry for entry in shown.must("variables")}

    assert timed["n"]["changeCount"] == 3
    assert 0 < timed["t"]["computeTime"] <= timed["t"]["maxComputeTime"]


def test_remarks_stay_with_the_variable_being_computed(tmp_path: object) -> None:
    bench = Bench(tmp_path, verbosity=2)  # type: ignore[arg-type]
    bench.viewdefs(App__DEFAULT='<b ui-value="n"></b><i ui-value="say()"></i>')
    bench.run(
        "App = session:prototype('App', {n = 1}) function App:say() diag(2, 'looked') diag(3, 'deep') return 1 end"
    )
    bench.run("mcp.value = App:new()")
    bench.open()

    assert {entry["path"]: entry["diags"] for entry in bench.must("variables")}["say()"][0] == "looked"


def test_without_a_page_only_the_root_is_there(bench: Bench) -> None:
    listed = bench.must("variables")

    assert [(entry["id"], entry["parentId"], entry["type"]) for entry in listed] == [(1, 0, "MCP")]
