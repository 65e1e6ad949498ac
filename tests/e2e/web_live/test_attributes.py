# ruff: noqa: E501 - templates read better on one line
"""Every attribute with the real engine behind it: one app that uses them all, operated as a person would."""

import pytest
from playwright.sync_api import Page, expect

from .conftest import Server

pytestmark = pytest.mark.slow

APP = """
Sink = session:prototype("Sink", {
    text = "hello", html = "<b>bold</b>", hot = true, code = "element.dataset.ran = value.length",
    on = false, choice = "a", level = 3, stars = 2, tint = "#00ff00", pick = "2", note = "", keys = "", events = 0, log = "",
})
Person = session:prototype("Sink.Person", { name = "" })
Badge = session:prototype("Sink.Badge", {})
function Badge:new(given) return session:create(Badge, { person = given.baseItem, at = given.index }) end
function Badge:label() return self.at .. ":" .. self.person.name end
function Sink:new()
    local people = {}
    for at, name in ipairs({ "Ada", "Alan", "Grace" }) do people[at] = session:create(Person, { name = name }) end
    return session:create(Sink, { people = people, chosen = people[1], many = {}, title = "tip", colour = "red" })
end
function Sink:act() self.events = self.events + 1 end
function Sink:take(value) self.log = self.log .. "[" .. tostring(value) .. "]" end
function Sink:key(value) self.keys = self.keys .. tostring(value) end
function Sink:shift() table.insert(self.people, 1, table.remove(self.people)) end
function Sink:swap() self.chosen = self.chosen == nil and self.people[1] or nil end
function Sink:fill() for at = 1, 1000 do self.many[at] = session:create(Person, { name = "n" .. at }) end end
function Sink:doubled(value) if value then self.level = value * 2 end return self.level * 2 end
if not session.reloading then sink = Sink:new() end
"""
VIEW = """<template>
  <div id="sink">
    <p id="text" ui-value="text" ui-attr-title="title" ui-class-hot="hot" ui-style-color="colour"></p>
    <div id="html" ui-html="html"></div><i id="swap" ui-html="html?replace"></i>
    <span id="code" ui-code="code"></span>
    <input id="in" ui-value="text"><input id="live" ui-value="text?keypress">
    <input id="box" type="checkbox" ui-value="on"><sl-switch id="switch" ui-value="on">on</sl-switch>
    <sl-checkbox id="check" ui-value="on">on</sl-checkbox>
    <sl-radio-group id="radio" ui-value="choice"><sl-radio value="a">A</sl-radio><sl-radio value="b">B</sl-radio></sl-radio-group>
    <sl-range id="range" max="10" ui-value="level"></sl-range><sl-rating id="rating" ui-value="stars"></sl-rating>
    <sl-color-picker id="tint" ui-value="tint"></sl-color-picker>
    <sl-select id="select" ui-value="pick"><sl-option value="1">One</sl-option><sl-option value="2">Two</sl-option></sl-select>
    <sl-input id="note" ui-value="note" ui-event-keypress-enter="take(_)" ui-event-keypress-ctrl-k="key(_)"></sl-input>
    <button id="act" ui-action="act()">act</button><b id="events" ui-value="events"></b>
    <input id="value" value="v" ui-action="take(_)"><b id="log" ui-value="log"></b><b id="keys" ui-value="keys"></b>
    <input id="focus" ui-event-focus="act()"><output id="two" ui-value="doubled()?access=rw"></output>
    <div id="chosen" class="outer" ui-view="chosen" ui-class-hot="hot"></div><button id="swapper" ui-action="swap()">swap</button>
    <ul id="people" ui-viewlist="people" ui-namespace="row"><li class="item"></li></ul>
    <button id="shift" ui-action="shift()">shift</button>
    <div id="wrapped" ui-view="people?wrapper=lua.ViewList&item=Badge"></div>
    <div id="many" style="height:200px;overflow:auto"><div ui-viewlist="many?window=40" ui-namespace="row"></div></div>
    <button id="fill" ui-action="fill()">fill</button>
    <p id="broken" ui-value="nothing.at.all()">x</p><p id="worse" ui-value="a ? b : c">x</p><p ui-repeat="x" id="unknown">fine</p>
  </div>
</template>"""
FILES = {
    "app.lua": APP,
    "viewdefs/Sink.DEFAULT.html": VIEW,
    "viewdefs/Sink.Person.DEFAULT.html": '<template><h3 ui-value="name"></h3></template>',
    "viewdefs/Sink.Person.row.html": '<template><li style="height:20px" ui-value="name"></li></template>',
    "viewdefs/Sink.Badge.list-item.html": '<template><em ui-value="label()"></em></template>',
}


@pytest.fixture
def sink(server: Server, page: Page) -> Page:
    folder = server.base / "apps" / "sink"
    (folder / "viewdefs").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    assert server.call("ui_display", name="sink").startswith("Displayed app: sink")
    page.goto(server.url)
    expect(page.locator("#text")).to_have_text("hello")
    page.wait_for_function("document.querySelectorAll(':not(:defined)').length === 0")
    return page


def lua(server: Server, code: str) -> object:
    return server.call("ui_run", code=code)


def test_what_is_shown_follows_lua(sink: Page, server: Server) -> None:
    text = sink.locator("#text")
    expect(text).to_have_attribute("title", "tip")
    expect(text).to_have_class("hot")
    assert text.evaluate("e => e.style.color") == "red"
    expect(sink.locator("#html b")).to_have_text("bold")
    expect(sink.locator("b#swap")).to_have_text("bold")
    expect(sink.locator("#code")).to_have_attribute("data-ran", "34")
    expect(sink.locator("#two")).to_have_text("6")

    lua(server, "sink.title, sink.hot, sink.colour, sink.html = nil, false, nil, '<u>x</u>'")
    expect(sink.locator("#html u")).to_have_text("x")
    expect(sink.locator("u#swap")).to_have_text("x")
    assert text.evaluate("e => [e.hasAttribute('title'), e.className, e.style.color]") == [False, "", ""]


def test_every_field_reaches_lua(sink: Page, server: Server) -> None:
    sink.locator("#live").press("End")
    sink.locator("#live").press_sequentially("!")
    expect(sink.locator("#text")).to_have_text("hello!")
    expect(sink.locator("#in")).to_have_value("hello!")
    sink.locator("#box").click()
    expect(sink.locator("#switch")).to_have_js_property("checked", True)
    sink.locator("#check").click()
    expect(sink.locator("#box")).not_to_be_checked()
    sink.locator("sl-radio[value=b]").click()
    sink.locator("#range input").fill("7")
    sink.locator("#rating [role=slider]").press("ArrowRight")
    sink.locator("#tint").get_by_role("button").first.click()
    sink.locator("#tint input[name], #tint sl-input input").first.fill("#123456")
    sink.keyboard.press("Enter")
    sink.keyboard.press("Escape")
    sink.locator("#select").click()
    sink.locator("sl-option[value='1']").click()
    expect(sink.locator("#two")).to_have_text("14")
    sink.locator("#act").click()
    expect(sink.locator("#events")).to_have_text("1")  # so all before it has arrived
    lua(server, "sink.stars, sink.note = 5, 'from Lua'")
    expect(sink.locator("#rating")).to_have_js_property("value", 5)
    expect(sink.locator("#note")).to_have_js_property("value", "from Lua")
    assert lua(server, "return sink.tint") == "#123456"
    lua(server, "sink.stars, sink.tint = 3, '#00ff00'")
    expect(sink.locator("#tint")).to_have_js_property("value", "#00ff00")
    assert lua(server, "return {sink.choice, sink.level, sink.stars, sink.pick, sink.on}") == ["b", 7, 3, "1", False]


def test_actions_events_and_keys_reach_lua(sink: Page) -> None:
    sink.locator("#act").click()
    sink.locator("#focus").focus()
    expect(sink.locator("#events")).to_have_text("2")
    sink.locator("#value").click()
    sink.locator("#note input").press_sequentially("hey")
    sink.locator("#note input").press("Enter")
    sink.locator("#note input").press("Control+k")
    expect(sink.locator("#log")).to_have_text("[v][enter]")
    expect(sink.locator("#keys")).to_have_text("k")


def test_views_and_lists_follow_their_objects(sink: Page) -> None:
    expect(sink.locator("h3#chosen.outer.hot")).to_have_text("Ada")
    sink.locator("#swapper").click()
    expect(sink.locator("h3#chosen")).to_have_count(0)
    expect(sink.locator("#chosen.outer")).to_have_count(1)
    sink.locator("#swapper").click()
    expect(sink.locator("h3#chosen.outer.hot")).to_have_text("Ada")
    expect(sink.locator("#people > li.item")).to_have_text(["Ada", "Alan", "Grace"])
    expect(sink.locator(".view-list em")).to_have_text(["0:Ada", "1:Alan", "2:Grace"])
    sink.locator("#shift").click()
    expect(sink.locator("#people > li")).to_have_text(["Grace", "Ada", "Alan"])
    expect(sink.locator(".view-list em")).to_have_text(["0:Grace", "1:Ada", "2:Alan"])


def test_a_long_list_lives_through_a_window(sink: Page, server: Server) -> None:
    sink.locator("#fill").click()
    expect(sink.locator("#many li").first).to_have_text("n1")
    sink.wait_for_function("document.querySelector('#many').scrollHeight === 20000")
    assert sink.locator("#many li").count() <= 60
    sink.locator("#many").evaluate("e => { e.scrollTop = 15000 }")
    expect(sink.locator("#many li", has_text="n755")).to_be_visible()
    lua(server, "sink.many[755].name = 'changed'")
    expect(sink.locator("#many li", has_text="changed")).to_be_visible()
    sink.locator("#many").evaluate("e => { e.scrollTop = 0 }")
    expect(sink.locator("#many li", has_text="n1").first).to_be_visible()


def test_a_bad_binding_leaves_its_neighbours_alone(sink: Page) -> None:
    expect(sink.locator("#worse.ui-error")).to_have_count(1)
    expect(sink.locator("#unknown")).to_have_text("fine")
    sink.locator("#act").click()
    expect(sink.locator("#events")).to_have_text("1")


SORTED = """
Sorted = session:prototype("Sorted", { by = "", count = 0, note = "" })
function Sorted:sort(name, times) self.by, self.count = name, self.count + times end
function Sorted:set(name, value) self[name] = value end
if not session.reloading then sorted = Sorted:new() end
"""
SORTED_VIEW = """<template><main>
  <button id="sort" ui-action="sort('date?', 2)">Date</button>
  <input id="note" aria-label="Note" ui-event-change="set('note', _)">
  <p id="none" ui-class-hidden="count > 0">Nothing here yet.</p>
  <b id="by" ui-value="by"></b> <i id="text" ui-value="note"></i> <u id="is" ui-value="by == 'date?'"></u>
  <button id="off" ui-attr-disabled="!note">Send</button>
</main></template>"""


@pytest.mark.covers("UI-PATH-9")
def test_paths_pass_arguments_negate_and_compare(server: Server, page: Page) -> None:
    folder = server.base / "apps" / "sorted"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(SORTED)
    (folder / "viewdefs" / "Sorted.DEFAULT.html").write_text(SORTED_VIEW)
    server.call("ui_display", name="sorted")
    page.goto(server.url)
    expect(page.locator("#none")).to_be_visible()
    expect(page.locator("#off")).to_be_disabled()
    expect(page.locator("#is")).to_have_text("false")

    page.locator("#sort").click()
    expect(page.locator("#by")).to_have_text("date?")
    expect(page.locator("#none")).to_be_hidden()
    expect(page.locator("#is")).to_have_text("true")
    page.locator("#note").fill("hello")
    page.locator("#note").blur()
    expect(page.locator("#text")).to_have_text("hello")
    expect(page.locator("#off")).to_be_enabled()
    assert server.call("ui_audit", name="sorted")["violations"] == []
