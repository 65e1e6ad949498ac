"""The documented messages: variables a page creates, watches, updates and destroys by itself."""

from typing import Any

import pytest

from lua_runtime.cores import Bench
from lua_runtime.page import Page


def create(number: int, path: str, parent: int = 1, **properties: str) -> dict[str, Any]:
    return {"type": "create", "data": {"id": number, "parentId": parent, "properties": {"path": path, **properties}}}


def update(number: int, value: object) -> dict[str, Any]:
    return {"type": "update", "data": {"varId": number, "value": value}}


@pytest.fixture
def page(bench: Bench) -> Page:
    bench.run(
        "app = setmetatable({name = 'a', n = 1, inner = {deep = {x = 5}}, list = {1, 2}}, {type = 'App'}) "
        "mcp.value = app"
    )
    return bench.open(expand=False)


@pytest.mark.covers("UI-VAR-2", "UI-VAR-5", "UI-WIRE-2", "UI-WIRE-9")
def test_watching_the_root_gives_its_value_and_type(page: Page) -> None:
    assert page.plain == {1: {"obj": 2}}
    assert page.properties[1] == {"type": "MCP"}
    assert list(page.viewdefs) == ["MCP.DEFAULT"]


@pytest.mark.covers("UI-VAR-13", "UI-PATH-2", "UI-PATH-3", "UI-PATH-4", "UI-PATH-5", "UI-PATH-7")
def test_paths_are_read_from_the_parent(bench: Bench, page: Page) -> None:
    bench.run("function app:double() return {half = self.n * 2} end")
    bench.send(
        create(2, "value"),
        create(3, "name", 2),
        create(4, "list.1", 2),
        create(5, "double().half", 2),
        create(6, "inner", 2),
        create(7, "deep.x", 6),
        create(8, "..name", 6),
        create(9, "list[0]", 2),
        create(10, "", 3),
    )

    assert {number: page.plain[number] for number in (3, 4, 5, 7, 8, 9, 10)} == {
        3: "a", 4: 2, 5: 2, 7: 5, 8: "a", 9: 1, 10: "a",
    }  # fmt: skip


@pytest.mark.covers("UI-VAR-10", "UI-VAR-11", "UI-VAR-12")
def test_values_have_their_wire_form(bench: Bench, page: Page) -> None:
    bench.run("mcp.a, mcp.b, mcp.c, mcp.d, mcp.e = {}, {1, {}, {2}}, 0/0, {1, _x = 2}, {1, x = 2}")
    bench.send(*(create(number, path) for number, path in enumerate("abcde", start=2)))

    first = page.plain[2]["obj"]
    assert page.plain == {
        1: {"obj": 2},
        2: {"obj": first},
        3: [1, {"obj": first + 1}, {"obj": first + 2}],
        5: [1],
        6: {"obj": first + 3},
    }
    bench.run("mcp.a2 = mcp.a")
    bench.send(create(7, "a2"))
    assert page.plain[7] == {"obj": first}


@pytest.mark.covers("UI-VAR-9", "UI-VAR-13", "UI-WIRE-3", "UI-WIRE-5")
def test_one_bad_message_never_drops_its_batch(bench: Bench, page: Page) -> None:
    bench.send(
        create(2, "value"),
        create(2, "n"),
        create(0, "n"),
        {"type": "create", "data": {"id": 3, "parentId": 1}},
        create(4, "n", 99),
        create(5, "name(_)", 2, access="r"),
        create(6, "n", 2, access="sideways"),
        {"type": "get", "data": {}},
        {"type": "update"},
        "nonsense",
        update(77, 1),
        create(8, "n", 2),
    )

    assert page.plain[8] == 1
    assert [(error.get("varId"), error["code"]) for error in page.errors] == [
        (2, "invalid"),
        (0, "invalid"),
        (3, "invalid"),
        (4, "not-found"),
        (5, "invalid"),
        (6, "invalid"),
        (None, "unknown-type"),
        (None, "invalid"),
        (None, "invalid"),
        (77, "not-found"),
    ]


@pytest.mark.parametrize("frame", ["{", "[1", '"text"', "nul", '{"a":}', "[" * 200, '{"type":"watch"}x', "\ud800", "3"])
@pytest.mark.covers("UI-WIRE-3", "UI-ROB-1")
def test_a_frame_that_is_no_frame_is_answered_with_an_error(bench: Bench, page: Page, frame: str) -> None:
    bench.must("frame", 1, frame)

    assert [error["code"] for error in page.errors] == ["invalid"]


@pytest.mark.covers("UI-WIRE-2")
def test_bare_messages_and_lists_are_frames_too(bench: Bench, page: Page) -> None:
    bench.must("frame", 1, '{"type":"create","data":{"id":2,"properties":{"path":"value"}}}')
    bench.must("frame", 1, '[{"type":"create","data":{"id":3,"parentId":2,"properties":{"path":"n"}}}]')
    bench.must("frame", 1, "  ")

    assert page.plain[3] == 1


@pytest.mark.covers("UI-VAR-15", "UI-VAR-16", "UI-VAR-17", "UI-PATH-6")
def test_writing_follows_the_last_element(bench: Bench, page: Page) -> None:
    bench.run("function app:set(v) self.got = v end function app:both(v) if v then self.n = v end return self.n end")
    bench.run("function app:act(...) self.args = select('#', ...) end")
    bench.send(
        create(2, "value"),
        create(3, "name", 2),
        create(4, "list.0", 2),
        create(5, "set(_)", 2, access="w"),
        create(6, "both()", 2, access="rw"),
        create(7, "act()", 2, access="action"),
        create(8, "none.x", 2),
    )
    bench.send(
        update(3, "b"), update(4, 9), update(5, {"k": [1, None, 2]}), update(6, 4), update(7, None), update(8, 1)
    )

    assert bench.run("return {app.name, app.list[1], app.n, app.args}") == ["b", 9, 4, 0]
    assert bench.run("return {app.got.k[1], app.got.k[3]}") == [1, 2]
    assert [(error["varId"], error["code"]) for error in page.errors] == [(8, "path-failure")]
    bench.run("app.none = {}")
    bench.send(update(8, 5))
    assert bench.run("return app.none.x") == 5


@pytest.mark.covers("UI-VAR-16")
def test_a_reference_from_the_page_is_the_object_itself(bench: Bench, page: Page) -> None:
    bench.send(create(2, "value"), create(3, "inner", 2), create(4, "chosen", 2))

    bench.send(update(4, page.plain[3]))

    assert bench.run("return rawequal(app.chosen, app.inner)") is True


@pytest.mark.covers("UI-VAR-7")
def test_a_variable_that_is_not_readable_is_never_read(bench: Bench, page: Page) -> None:
    bench.run("calls = 0 function app:act() calls = calls + 1 end")
    bench.send(create(2, "value"), create(3, "act()", 2, access="action"), create(4, "name", 2, access="w"))
    bench.run("app.name = 'changed'")

    assert bench.run("return calls") == 0
    assert 4 not in page.plain
    bench.send(create(5, "name", 2, access="r"), update(5, "x"))
    assert page.errors[-1]["code"] == "unauthorized"


@pytest.mark.covers("UI-VAR-20")
def test_nil_on_the_way_reads_as_null(bench: Bench, page: Page) -> None:
    bench.send(create(2, "value"), create(3, "inner.deep.x", 2))

    bench.run("app.inner = nil")

    assert page.plain[3] is None
    assert page.errors == []


@pytest.mark.covers("UI-VAR-20", "UI-ROB-2")
def test_an_error_is_sent_once_and_leaves_the_others_alone(bench: Bench, page: Page) -> None:
    bench.run("function app:bad() error('no') end")
    bench.send(create(2, "value"), create(3, "bad()", 2), create(4, "n", 2))
    bench.run("app.n = 2")
    bench.run("app.n = 3")

    assert page.plain[4] == 3
    assert [error["varId"] for error in page.errors] == [3]
    bench.run("function app:bad() return 'good' end")
    assert page.plain[3] == "good"


@pytest.mark.covers("UI-VAR-23")
def test_destroying_takes_the_children_first(bench: Bench, page: Page) -> None:
    bench.send(create(2, "value"), create(3, "inner", 2), create(4, "deep", 3), create(5, "n", 2))

    bench.send({"type": "destroy", "data": {"varId": 2}})
    bench.run("app.n = 9")

    assert page.destroyed == [5, 4, 3, 2]
    assert page.plain[5] == 1


@pytest.mark.covers("UI-VAR-18")
def test_an_unwatched_variable_hides_its_subtree_until_watched(bench: Bench, page: Page) -> None:
    bench.send(create(2, "value"), create(3, "n", 2))

    bench.send({"type": "unwatch", "data": {"varId": 2}})
    bench.run("app.n = 5")
    assert page.plain[3] == 1
    bench.send({"type": "watch", "data": {"varId": 2}})
    assert page.plain[3] == 5

    bench.send({"type": "update", "data": {"varId": 2, "properties": {"inactive": "yes"}}})
    bench.send(update(3, 8))
    assert bench.run("return app.n") == 5


def test_a_variable_nobody_watches_can_still_be_written(bench: Bench, page: Page) -> None:
    quiet = create(3, "n", 2)
    quiet["data"]["nowatch"] = True
    bench.send(create(2, "value"), quiet, update(3, 12))

    assert bench.run("return app.n") == 12
    assert 3 not in page.plain


@pytest.mark.covers("UI-VAR-6", "UI-PATH-1")
def test_the_query_becomes_properties_and_wins(bench: Bench, page: Page) -> None:
    bench.send(create(2, "value"), create(3, " n ?access=r&priority=high&x=a%20b+c&flag", 2, access="rw"))

    listed = {entry["wireId"]: entry for entry in bench.must("variables") if "wireId" in entry}

    assert listed[3]["properties"] == {"access": "r", "flag": "true", "path": "n", "priority": "high", "x": "a b c"}
    assert listed[3]["access"] == "r"


@pytest.mark.covers("UI-VAR-19", "UI-VAR-12")
def test_the_type_follows_the_value(bench: Bench, page: Page) -> None:
    bench.send(create(2, "value"))
    assert page.properties[2]["type"] == "App"

    bench.run("mcp.value = 5")

    assert page.properties[2]["type"] == ""
    assert page.plain[2] == 5


@pytest.mark.covers("UI-TOOL-16")
def test_a_changed_viewdef_refreshes_every_variable_of_its_type(bench: Bench, page: Page) -> None:
    bench.viewdefs(App__DEFAULT="<b>one</b>")
    bench.send(create(2, "value"), create(3, "value"))
    assert page.viewdefs["App.DEFAULT"] == "<template><b>one</b></template>"
    seen = page.messages

    bench.viewdefs(App__DEFAULT="<b>two</b>")

    assert page.viewdefs["App.DEFAULT"] == "<template><b>two</b></template>"
    assert page.messages == seen + 3


@pytest.mark.covers("UI-LSES-6")
def test_variables_made_by_an_app_are_on_every_page(bench: Bench, page: Page) -> None:
    number = bench.run("thing = {type = 'Thing', n = 1} return session:createVariable(1, thing, {path = 'n'})")
    other = bench.open(2, expand=False)

    bench.run("thing.n = 2")
    assert (page.plain[number], other.plain[number]) == (2, 2)
    bench.run(f"session:destroyVariable({number})")

    assert number < 0
    assert page.destroyed == other.destroyed == [number]
