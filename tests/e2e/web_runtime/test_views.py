# ruff: noqa: E501 - templates read better on one line
"""Views, lists, scripts and what survives when a view is drawn again, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from .scripted import ScriptedServer, place, root, viewdefs

NAME = '<b ui-value="name" data-ui-b="0 ui-value"></b>'


@pytest.mark.covers("UI-VIEW-6", "UI-VIEW-7")
def test_a_view_takes_the_place_of_its_element_and_keeps_its_outer_bindings(page: Page, server: ScriptedServer) -> None:
    outer = '<section><div id="me" class="card" style="color:red" ui-view="p" ui-class-hot="h" data-ui-b="0 ui-view;1 ui-class-hot"></div></section>'
    server.say(
        viewdefs(
            A__DEFAULT=outer,
            P__DEFAULT=f'<article class="p">{NAME}</article><hr>',
            Q__DEFAULT=f'<aside style="top:1px">{NAME}</aside>',
        ),
        root("A.DEFAULT", [[10, "P.DEFAULT", ["Ann"]], True]),
    )
    article = page.locator("article")
    expect(article).to_have_id("me")
    expect(article).to_have_attribute("ui-viewdef", "P.DEFAULT")
    expect(article).to_have_class("p ui-view-10 card hot")
    expect(page.locator("hr")).to_have_class("ui-view-10")
    assert article.get_attribute("style") == "color:red"

    server.say(place(2, 0, "Q.DEFAULT", ["Bob"], 20))
    aside = page.locator("aside")
    expect(aside).to_have_text("Bob")
    expect(aside).to_have_class("ui-view-20 card hot")
    assert aside.get_attribute("style") == "top:1px; color:red"
    expect(page.locator("hr")).to_have_count(0)

    server.say([2, 1, False])
    expect(aside).to_have_class("ui-view-20 card")


@pytest.mark.covers("UI-VIEW-8")
def test_an_emptied_view_waits_in_its_place(page: Page, server: ScriptedServer) -> None:
    server.say(
        viewdefs(
            A__DEFAULT='<i>a</i><div id="x" ui-view="p" data-ui-b="0 ui-view"></div><i>b</i>',
            P__DEFAULT=f"<p>{NAME}</p>",
        ),
        root("A.DEFAULT", [[10, "P.DEFAULT", ["Ann"]]]),
    )
    expect(page.locator("p#x")).to_have_text("Ann")
    server.say(place(2, 0, "", [], 0))
    expect(page.locator("i + div#x + i")).to_have_text("b")
    server.say(place(2, 0, "P.DEFAULT", ["Eve"], 30))
    expect(page.locator("i + p#x + i")).to_have_text("b")
    expect(page.locator("p")).to_have_text("Eve")


@pytest.mark.covers("UI-VIEW-11")
def test_a_view_whose_root_is_a_view_is_replaced_all_the_way(page: Page, server: ScriptedServer) -> None:
    server.say(
        viewdefs(
            A__DEFAULT='<div ui-view="p" class="outer" ui-attr-title="t" data-ui-b="0 ui-view;1 ui-attr-title"></div>',
            B__DEFAULT='<div ui-view="q" data-ui-b="0 ui-view"></div>',
            C__DEFAULT=f"<p>{NAME}</p>",
            D__DEFAULT=f"<h2>{NAME}</h2>",
        ),
        root("A.DEFAULT", [[10, "B.DEFAULT", [[20, "C.DEFAULT", ["deep"]]]], "tip"]),
    )
    expect(page.locator("p.outer[title=tip]")).to_have_text("deep")
    server.say(place(10, 0, "D.DEFAULT", ["new"], 30))
    expect(page.locator("h2.outer[title=tip]")).to_have_text("new")
    server.say([2, 1, "other"])
    expect(page.locator("h2.outer[title=other]")).to_have_text("new")
    expect(page.locator("p")).to_have_count(0)


@pytest.mark.covers("UI-LIST-1", "UI-LIST-2")
def test_a_list_grows_shrinks_and_writes_one_row_only(page: Page, server: ScriptedServer) -> None:
    server.say(
        viewdefs(
            A__DEFAULT='<ul ui-viewlist="xs" data-ui-b="0 ui-viewlist"><li class="row"></li></ul>',
            R__DEFAULT=f"<li>{NAME}</li>",
        ),
        root("A.DEFAULT", [[[10, "R.DEFAULT", ["a"]], [20, 0, ["b"]], None]]),
    )
    rows = page.locator("ul > *")
    expect(rows).to_have_count(3)
    expect(page.locator("li.row")).to_have_count(2)
    expect(rows.nth(1)).to_have_text("b")

    page.evaluate(
        """() => { window.changes = []; new MutationObserver(l => window.changes.push(...l.map(m => m.target.nodeName)))
            .observe(document.querySelector('ul'), {subtree: true, childList: true, characterData: true, attributes: true}) }"""
    )
    server.say([20, 0, "B"])
    expect(rows.nth(1)).to_have_text("B")
    assert page.evaluate("window.changes") == ["#text"]

    server.say([2, 0, 4], place(2, 0, "R.DEFAULT", ["c"], 30, 2), place(2, 0, "R.DEFAULT", ["d"], 40, 3))
    expect(rows).to_have_text(["a", "B", "c", "d"])
    server.say([2, 0, 1])
    expect(rows).to_have_text(["a"])
    server.say([2, 0, 0])
    expect(rows).to_have_count(0)


@pytest.mark.covers("UI-VIEW-10")
def test_scripts_run_in_order_once_per_render_with_values_in_place(
    page: Page, server: ScriptedServer, console: list[str]
) -> None:
    script = (
        "<script class='s'>window.log = (window.log || []).concat(document.querySelector('b').textContent)</script>"
    )
    html = f'{NAME}<script>throw new Error("broken")</script><div ui-view="p" data-ui-b="1 ui-view"></div>{script}'
    server.say(
        viewdefs(A__DEFAULT=html, P__DEFAULT="<i><script>window.log = ['inner']</script></i>"),
        root("A.DEFAULT", ["Ann", [10, "P.DEFAULT", []]]),
    )
    page.wait_for_function("window.log && window.log.length === 2")
    assert page.evaluate("window.log") == ["inner", "Ann"]
    server.say(root("A.DEFAULT", ["Bob", [20, "P.DEFAULT", []]], 12))
    page.wait_for_function("window.log.length === 2 && window.log[1] === 'Bob'")
    expect(page.locator("script.s")).to_have_count(1)
    assert ["broken" in text for text in console] == [True, True]
    console.clear()


FORM = '<div class="form"><h1>One</h1><input ui-value="n" data-ui-b="0 ui-value"><b ui-value="c" data-ui-b="1 ui-value"></b></div>'


@pytest.mark.covers("UI-VIEW-9", "UI-VIEW-5")
@pytest.mark.parametrize(
    "changed",
    [
        FORM.replace("One", "Two"),
        f"<p>before</p>{FORM}".replace("One", "Two"),
        FORM.replace("<h1>One</h1>", "<h1>Two</h1><div><i>more</i></div><p>text</p>"),
        FORM.replace("<input", "<label>Name <input")
        .replace('ui-value"><b', 'ui-value"></label><b')
        .replace("One", "Two"),
        FORM.replace("form", "other").replace("One", "Two"),
    ],
    ids=["text", "element before", "elements inside", "wrapped", "class"],
)
def test_half_typed_text_focus_and_caret_survive_a_changed_viewdef(
    page: Page, server: ScriptedServer, changed: str
) -> None:
    server.say(viewdefs(A__DEFAULT=FORM), root("A.DEFAULT", ["start", 3]))
    field = page.locator("input")
    expect(field).to_have_value("start")
    field.focus()
    field.press("Home")
    page.keyboard.type("half ")

    server.say(viewdefs(A__DEFAULT=changed), root("A.DEFAULT", ["start", 3], 50))
    expect(page.locator("h1")).to_have_text("Two")
    expect(field).to_have_value("half start")
    expect(field).to_be_focused()
    expect(page.locator("b")).to_have_text("3")
    page.keyboard.type("typed ")
    expect(field).to_have_value("half typed start")
    field.blur()
    assert server.hear()["messages"] == [[50, 0, "half typed start"]]


def test_text_in_a_field_that_never_had_a_value_survives_too(page: Page, server: ScriptedServer) -> None:
    server.say(viewdefs(A__DEFAULT=FORM), root("A.DEFAULT", [None, 3]))
    page.locator("input").press_sequentially("half")
    for view in (50, 60):
        server.say(viewdefs(A__DEFAULT=FORM.replace("One", f"Two {view}")), root("A.DEFAULT", [None, 3], view))
        expect(page.locator("h1")).to_have_text(f"Two {view}")
        expect(page.locator("input")).to_have_value("half")


def test_shoelace_state_survives_a_changed_viewdef(page: Page, server: ScriptedServer) -> None:
    form = '<h1>One</h1><sl-details summary="More"><p>x</p></sl-details><sl-input ui-value="n" data-ui-b="0 ui-value"></sl-input>'
    server.say(viewdefs(A__DEFAULT=form), root("A.DEFAULT", ["start"]))
    expect(page.locator("h1")).to_have_text("One")
    page.wait_for_function("document.querySelectorAll(':not(:defined)').length === 0")
    page.locator("sl-details").evaluate("e => { e.open = true }")
    page.locator("sl-input input").focus()
    page.keyboard.type("ed")
    server.say(
        viewdefs(A__DEFAULT=form.replace("One", "Two").replace('"More"', '"Less"')), root("A.DEFAULT", ["start"], 50)
    )
    expect(page.locator("h1")).to_have_text("Two")
    assert page.evaluate("[document.activeElement.localName, document.activeElement.value]") == ["sl-input", "started"]
    assert page.locator("sl-details").evaluate("e => [e.open, e.summary]") == [True, "Less"]


def test_scroll_positions_survive_a_changed_viewdef(page: Page, server: ScriptedServer) -> None:
    box = '<h1>One</h1><div id="box" style="height:60px;overflow:auto"><div style="height:900px"></div></div>'
    server.say(viewdefs(A__DEFAULT=box), root("A.DEFAULT", []))
    page.locator("#box").evaluate("e => { e.scrollTop = 333 }")
    server.say(viewdefs(A__DEFAULT=box.replace("One", "Two")), root("A.DEFAULT", [], 50))
    expect(page.locator("h1")).to_have_text("Two")
    assert page.locator("#box").evaluate("e => e.scrollTop") == 333


@pytest.mark.covers("UI-LIST-3")
def test_a_windowed_list_shows_its_length_and_asks_for_what_scrolls_into_view(
    page: Page, server: ScriptedServer
) -> None:
    html = '<div id="l" style="height:200px;overflow:auto"><div ui-viewlist="xs?window=20" data-ui-b="0 ui-viewlist"></div></div>'
    row = '<div style="height:20px" ui-value="n" data-ui-b="0 ui-value"></div>'

    def rows(start: int, count: int) -> list[object]:
        return [[100 + i, "R.DEFAULT", [f"row {i}"]] for i in range(start, start + count)]

    server.say(
        viewdefs(A__DEFAULT=html, R__DEFAULT=row),
        root("A.DEFAULT", [{"length": 1000, "from": 0, "rows": rows(0, 20)}]),
    )
    expect(page.locator("text=row 3").first).to_be_visible()
    page.wait_for_function("document.querySelector('#l').scrollHeight === 20000")

    page.locator("#l").evaluate("e => { e.scrollTop = 10000 }")
    [[view, position, (start, count)]] = server.hear()["messages"]
    assert (view, position) == (2, 0)
    assert start <= 500
    assert start + count >= 510
    server.say([2, 0, {"length": 1000, "from": start, "rows": rows(start, count)}])
    expect(page.locator("text=row 505")).to_be_visible()
    assert page.locator("#l").evaluate("e => [e.scrollTop, e.scrollHeight]") == [10000, 20000]
    assert page.locator("[ui-viewdef='R.DEFAULT']").count() == count

    server.say(
        [
            2,
            0,
            {
                "length": 1001,
                "from": start + 1,
                "rows": [*range(101 + start, 100 + start + count), *rows(start + count, 1)],
            },
        ]
    )
    page.wait_for_function("document.querySelector('#l').scrollHeight === 20020")
    expect(page.locator("text=row 505")).to_be_visible()


@pytest.mark.covers("UI-JS-1")
def test_scripts_may_use_the_plain_protocol(page: Page, server: ScriptedServer) -> None:
    server.say(viewdefs(A__DEFAULT='<input id="f" ui-value="n" data-ui-b="0 ui-value">'), root("A.DEFAULT", ["v"]))
    expect(page.locator("input")).to_have_value("v")
    page.evaluate(
        """() => { const id = uiStore.create({parentId: 1, properties: {path: 'total()'}});
            window.seen = []; uiStore.watch(id, (v) => window.seen.push(v.value)); uiStore.update(id, 5); }"""
    )
    assert server.hear() == {
        "userEvent": False,
        "messages": [
            {"type": "create", "data": {"id": 2, "parentId": 1, "properties": {"path": "total()"}}},
            {"type": "update", "data": {"varId": 2, "value": 5}},
        ],
    }
    server.say({"type": "update", "data": {"varId": 2, "value": 42}})
    page.wait_for_function("window.seen.includes(42)")
    assert page.evaluate("uiStore.get(2)") == {
        "varId": 2,
        "parentId": 1,
        "value": 42,
        "properties": {"path": "total()"},
    }
    page.evaluate("uiStore.destroy(2)")
    assert server.hear()["messages"] == [{"type": "destroy", "data": {"varId": 2}}]
    page.evaluate("uiApp.updateValue('f', 'w'); uiApp.updateValue('nothing')")
    assert server.hear()["messages"] == [[2, 0, "w"]]
    assert page.evaluate(
        "uiApp.getStore() === uiStore && uiApp.getViewdefStore().has('A.DEFAULT') && !!uiApp.getAppView()"
    )
    assert page.evaluate("uiApp.getConnection().status") == "open"
