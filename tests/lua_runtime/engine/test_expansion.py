"""Server-side view expansion: what a page is sent, and how little of it."""

import json

import pytest

from lua_runtime.cores import Bench

NOTE = """
Note = session:prototype("Note", {title = "draft", lines = EMPTY})
function Note:save() self.saved = true self.title = self.title .. "!" end
function Note:shout() return self.title:upper() end
Line = session:prototype("Line", {text = ""})
note = Note:new()
mcp.value = note
"""
FORM = (
    '<h1 ui-value="title"></h1><input ui-value="title"><button ui-action="save()"></button><p ui-value="shout()"></p>'
)


def a_note(bench: Bench) -> None:
    bench.viewdefs(Note__DEFAULT=FORM + '<ul ui-viewlist="lines"></ul>', Line__DEFAULT='<li ui-value="text"></li>')
    bench.run(NOTE)


@pytest.mark.covers("UI-WIRE-8", "UI-WIRE-9", "UI-VIEW-4")
def test_one_frame_holds_viewdefs_and_the_whole_page(bench: Bench) -> None:
    a_note(bench)
    bench.run("note.lines = {Line:new({text = 'a'}), Line:new({text = 'b'})}")

    page = bench.open()

    rows = ["rows", ["Line.DEFAULT", ["a"], {}], ["Line.DEFAULT", ["b"], {}]]
    assert page.tree() == ["MCP.DEFAULT", [["Note.DEFAULT", ["draft", "draft", None, "DRAFT", rows], {}]], {}]
    assert sorted(page.viewdefs) == ["Line.DEFAULT", "MCP.DEFAULT", "Note.DEFAULT"]
    assert page.properties[1]["type"] == "MCP"


def test_a_change_is_one_short_update(bench: Bench) -> None:
    a_note(bench)
    page = bench.open()
    before = page.messages

    bench.run("note.lines = {Line:new({text = 'a'})}")
    bench.run("note.lines[1].text = 'z'")

    assert page.messages - before == 4  # the viewdef, the length, the row, then its text
    assert page.tree()[1][0][1][4] == ["rows", ["Line.DEFAULT", ["z"], {}]]


@pytest.mark.covers("UI-VAR-15", "UI-EXEC-2")
def test_an_action_runs_once_and_a_value_is_not_echoed(bench: Bench) -> None:
    a_note(bench)
    page = bench.open()
    view = next(node for node in page.views.values() if node.key == "Note.DEFAULT")
    before = page.messages

    bench.send([view.number, 1, "final"])
    assert page.messages - before == 2  # the heading and the getter; nothing for the input itself
    bench.send([view.number, 2])

    assert bench.run("return note.title") == "final!"
    assert page.tree()[1][0][1][:4] == ["final!", "final!", None, "FINAL!"]


@pytest.mark.covers("UI-VAR-15")
def test_a_value_the_model_changes_comes_back_corrected(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<input ui-value="size()?access=rw">')
    bench.run("App = session:prototype('App', {n = 1}) function App:size(v) if v then self.n = 7 end return self.n end")
    bench.run("mcp.value = App:new()")
    page = bench.open()
    view = max(page.views)

    bench.send([view, 0, "12"])

    assert page.tree()[1][0][1] == [7]


@pytest.mark.covers("UI-VIEW-5", "UI-VIEW-8", "UI-VAR-12")
def test_a_new_object_of_the_same_type_only_gives_new_values(bench: Bench) -> None:
    a_note(bench)
    page = bench.open()
    views = set(page.views)

    bench.run("mcp.value = Note:new({title = 'other'})")
    assert set(page.views) == views
    assert page.tree()[1][0][1][0] == "other"

    bench.run("mcp.value = nil")
    assert page.tree() == ["MCP.DEFAULT", [None], {}]


@pytest.mark.covers("UI-HOT-8", "UI-VIEW-4")
def test_a_viewdef_that_arrives_or_changes_is_sent_and_its_views_are_made_anew(bench: Bench) -> None:
    bench.run(NOTE)
    page = bench.open()
    assert page.tree()[1][0] == ["Note.DEFAULT (missing)", [], {}]

    bench.viewdefs(Note__DEFAULT='<b ui-value="title"></b>')
    first = max(page.views)
    assert page.tree()[1][0] == ["Note.DEFAULT", ["draft"], {}]

    bench.viewdefs(Note__DEFAULT='<i ui-value="shout()"></i>')
    assert page.tree()[1][0] == ["Note.DEFAULT", ["DRAFT"], {}]
    assert max(page.views) > first
    assert "<i " in page.viewdefs["Note.DEFAULT"]


@pytest.mark.covers("UI-NS-2")
def test_rows_of_a_plain_list_find_the_viewdef_of_rows(bench: Bench) -> None:
    bench.viewdefs(Note__DEFAULT='<ul ui-viewlist="lines"></ul>')
    bench.store.put("Line", "list-item", '<template><li ui-value="text"></li></template>')
    bench.must("viewdefs", bench.store.bundle())
    bench.run(NOTE + "note.lines = {Line:new({text = 'a'})}")

    assert bench.open().tree()[1][0][1] == [["rows", ["Line.list-item", ["a"], {}]]]

    bench.viewdefs(Line__DEFAULT='<b ui-value="text"></b>')
    assert bench.pages[1].tree()[1][0][1] == [["rows", ["Line.DEFAULT", ["a"], {}]]]


@pytest.mark.covers("UI-VIEW-18")
def test_an_object_without_a_viewdef_names_the_file_to_write(bench: Bench) -> None:
    bench.viewdefs(Note__DEFAULT='<div ui-view="one"></div><ul ui-viewlist="lines"></ul>', Line__small="<b></b>")
    bench.run(NOTE)
    bench.run(
        "Odd = session:prototype('Odd<b>', {}) note.lines = {Line:new(), Line:new(), Odd:new()} note.one = Odd:new()"
    )

    page = bench.open()

    one, rows = page.tree()[1][0][1]
    assert one[0] == "Odd<b>.DEFAULT (missing)"
    assert [row and row[0] for row in rows[1:]] == ["Line.DEFAULT (missing)", None, "Odd<b>.DEFAULT (missing)"]
    assert "No viewdef for Odd&lt;b&gt;: write viewdefs/Odd&lt;b&gt;.DEFAULT.html" in page.viewdefs[one[0]]
    log = (bench.folder / "log" / "lua-err.log").read_text()
    assert log.count("No viewdef for Line: write viewdefs/Line.DEFAULT.html") == 1

    bench.viewdefs(Line__DEFAULT='<li ui-value="text"></li>')
    assert [row and row[0] for row in page.tree()[1][0][1][1][1:3]] == ["Line.DEFAULT", "Line.DEFAULT"]


@pytest.mark.covers("UI-NS-1", "UI-NS-2", "UI-NS-3")
def test_namespaces_fall_back_in_order(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<div ui-view="xs?wrapper=lua.ViewList" ui-namespace="row"></div><div ui-view="one"></div>',
        A__row="<b>row</b>",
    )
    bench.viewdefs(B__DEFAULT="<b>plain</b>")
    bench.store.put("B", "list-item", "<template><b>item</b></template>")
    bench.must("viewdefs", bench.store.bundle())
    bench.run("App = session:prototype('App', {}) A = session:prototype('A', {}) B = session:prototype('B', {})")
    bench.run("mcp.value = App:new({xs = {A:new(), B:new()}, one = B:new()})")

    page = bench.open()

    listed, one = page.tree()[1][0][1]
    assert [row[1][0][0] for row in listed[1][0][1:]] == ["A.row", "B.list-item"]
    assert one[0] == "B.DEFAULT"


@pytest.mark.covers("UI-BIND-9", "UI-PATH-8", "UI-VAR-8", "UI-VAR-9")
def test_a_bad_binding_is_reported_and_its_siblings_work(bench: Bench) -> None:
    bench.viewdefs(
        Note__DEFAULT='<p ui-value="a ? \'x\' : \'y\'"></p><p ui-value="f(a + b)"></p><p ui-value="go(_)"></p>' + FORM
    )
    bench.run(NOTE)

    page = bench.open()

    assert page.tree()[1][0][1][3] == "draft"
    assert [(error["pos"], error["code"]) for error in page.errors] == [(0, "invalid"), (1, "invalid"), (2, "invalid")]


@pytest.mark.covers("UI-VAR-20", "UI-ROB-2", "UI-BIND-8")
def test_a_raising_method_keeps_its_value_and_is_told_once(bench: Bench) -> None:
    a_note(bench)
    page = bench.open()

    bench.run("function Note:shout() error('loud') end note.title = 'new'")
    bench.run("note.other = 1")
    assert page.tree()[1][0][1][:4] == ["new", "new", None, "DRAFT"]
    assert [error["pos"] for error in page.errors] == [3]

    bench.run("function Note:shout() return 'DRAFT' end")
    assert page.tree()[1][0][2] == {}


@pytest.mark.covers("UI-BIND-8")
def test_a_failing_action_reaches_the_page_and_the_log(bench: Bench) -> None:
    a_note(bench)
    page = bench.open()
    bench.run("function Note:save() error('disk full') end")
    view = next(node.number for node in page.views.values() if node.key == "Note.DEFAULT")

    bench.send([view, 2])

    assert page.errors[-1] == {"view": view, "pos": 2, "code": "lua-error", "description": "mcp-run:1: disk full"}
    assert "disk full" in (bench.folder / "log" / "lua-err.log").read_text()


def test_a_view_that_would_show_itself_ends_with_an_error(bench: Bench) -> None:
    bench.viewdefs(Node__DEFAULT='<div ui-view="me"></div><b ui-value="name"></b>')
    bench.run("Node = session:prototype('Node', {}) n = Node:new({name = 'n'}) n.me = n mcp.value = n")

    page = bench.open()

    assert page.tree()[1][0] == ["Node.DEFAULT", [None, "n"], {0: "this view would show itself"}]


def test_endless_nesting_stops(bench: Bench) -> None:
    bench.viewdefs(Node__DEFAULT='<div ui-view="next()"></div>')
    bench.run("Node = session:prototype('Node', {}) function Node:next() return Node:new() end mcp.value = Node:new()")

    page = bench.open()

    assert 50 < len(page.views) < 70
    assert page.errors[-1]["code"] == "invalid"


@pytest.mark.covers("UI-VAR-3", "UI-WIRE-14")
def test_two_pages_see_the_same_change_and_one_may_leave(bench: Bench) -> None:
    a_note(bench)
    first, second = bench.open(1), bench.open(2)

    bench.run("note.title = 'both'")
    assert first.tree() == second.tree()
    bench.must("close", 1)
    bench.run("note.title = 'rest'")

    assert first.tree()[1][0][1][0] == "both"
    assert second.tree()[1][0][1][0] == "rest"


@pytest.mark.covers("UI-WIRE-11")
def test_watching_again_sends_everything_again(bench: Bench) -> None:
    a_note(bench)
    bench.open()
    fresh = bench.pages[1] = type(bench.pages[1])(bench.store)

    bench.must("frame", 1, '{"type":"watch","data":{"varId":1,"expand":true}}')

    assert fresh.tree()[1][0][1][0] == "draft"
    assert "Note.DEFAULT" in fresh.viewdefs


@pytest.mark.covers("UI-VAR-13", "UI-VAR-14")
def test_create_makes_what_is_missing(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<div ui-view="note?create=Note"></div>', Note__DEFAULT=FORM)
    bench.run(NOTE + "App = session:prototype('App', {}) app = App:new() mcp.value = app")

    page = bench.open()

    assert page.tree()[1][0][1][0][1][0] == "draft"
    assert bench.run("return app.note.type == 'Note'") is True


@pytest.mark.covers("UI-VAR-18", "UI-VAR-21")
def test_high_priority_runs_first_and_is_sent_first(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<b ui-value="total"></b><b ui-value="slow?priority=low"></b>'
        '<b ui-value="work()?priority=high"></b>'
    )
    bench.run("App = session:prototype('App', {n = 0}) function App:work() self.total = self.n * 2 return self.n end")
    bench.run("app = App:new() mcp.value = app")
    page = bench.open()

    *_, frame = bench.core.call("run", ("app.n = 4 app.slow = 1",), bench.facts)

    view = max(page.views)
    assert json.loads(str(frame)) == [[view, 2, 4], [view, 0, 8], [view, 1, 1]]


@pytest.mark.covers("UI-WIRE-3")
def test_a_reported_element_becomes_two_way(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<my-field ui-value="name"></my-field>')
    bench.run("app = setmetatable({name = 'a'}, {type = 'App'}) mcp.value = app")
    page = bench.open()
    view = max(page.views)

    bench.send([view, 0, "refused"])
    assert page.errors[-1]["code"] == "unauthorized"
    bench.send({"type": "update", "data": {"varId": 1, "properties": {"editable": "App.DEFAULT 0"}}})
    bench.send([view, 0, "taken"])

    assert bench.run("return app.name") == "taken"


def test_a_thousand_rows_arrive_in_one_frame_for_a_tiny_request(bench: Bench) -> None:
    bench.viewdefs(
        App__DEFAULT='<ul ui-viewlist="rows"></ul>', Row__DEFAULT="".join(f'<i ui-value="f{n}"></i>' for n in range(5))
    )
    bench.run("Row = session:prototype('Row', {f0 = 0, f1 = 1, f2 = 2, f3 = 3, f4 = 4}) local rows = {}")
    bench.run(
        "local rows = {} for i = 1, 1000 do rows[i] = Row:new({f0 = i}) end "
        "mcp.value = setmetatable({rows = rows}, {type = 'App'})"
    )

    page = bench.open()

    assert len(page.tree()[1][0][1][0]) == 1001
    assert page.messages == 2


class TestWindow:
    """`?window`: only the rows around the viewport live."""

    @pytest.fixture
    def rows(self, bench: Bench) -> Bench:
        bench.viewdefs(App__DEFAULT='<ul ui-viewlist="rows?window=10"></ul>', Row__DEFAULT='<i ui-value="n"></i>')
        bench.run("Row = session:prototype('Row', {}) app = setmetatable({rows = {}}, {type = 'App'}) mcp.value = app")
        bench.run("for i = 1, 100 do app.rows[i] = Row:new({n = i}) end")
        bench.open()
        return bench

    @staticmethod
    def shown(bench: Bench) -> tuple[int, int, list[object]]:
        length, start, rows = bench.pages[1].tree()[1][0][1][0]
        return length, start, [row[1][0] for row in rows]

    def test_the_first_rows_come_with_the_length(self, rows: Bench) -> None:
        assert self.shown(rows) == (100, 0, list(range(1, 11)))

    def test_scrolling_moves_the_window_and_keeps_known_rows(self, rows: Bench) -> None:
        view = next(number for number, node in rows.pages[1].views.items() if node.key == "App.DEFAULT")
        made = len(rows.pages[1].views)

        rows.send([view, 0, [5, 10]])

        assert self.shown(rows) == (100, 5, list(range(6, 16)))
        assert len(rows.pages[1].views) == made + 5

    def test_the_end_is_never_overrun(self, rows: Bench) -> None:
        view = next(number for number, node in rows.pages[1].views.items() if node.key == "App.DEFAULT")

        rows.send([view, 0, [10**9, 10]])
        assert self.shown(rows) == (100, 90, list(range(91, 101)))
        rows.run("for i = 1, 95 do table.remove(app.rows) end")

        assert self.shown(rows) == (5, 0, [1, 2, 3, 4, 5])

    def test_rows_outside_are_not_read(self, rows: Bench) -> None:
        before = rows.pages[1].messages

        rows.run("app.rows[50].n = 'far' app.rows[3].n = 'near'")

        assert rows.pages[1].messages == before + 1
        assert self.shown(rows)[2][2] == "near"
