# ruff: noqa: E501 - templates read better on one line
"""Every `ui-*` attribute, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from .scripted import ScriptedServer, failure, place, root, viewdefs


def show(server: ScriptedServer, html: str, values: list[object]) -> None:
    server.say(viewdefs(A__DEFAULT=html), root("A.DEFAULT", values))


@pytest.mark.covers("UI-BIND-1")
def test_a_value_becomes_the_text_of_an_element(page: Page, server: ScriptedServer) -> None:
    show(server, '<p ui-value="name" data-ui-b="0 ui-value"></p>', ["Ann"])
    expect(page.locator("p")).to_have_text("Ann")
    assert (page.locator("p").get_attribute("id") or "").startswith("ui-")

    server.say([2, 0, 7])
    expect(page.locator("p")).to_have_text("7")

    server.say([2, 0, None])
    expect(page.locator("p")).to_have_text("")


def test_missing_values_leave_the_authors_text(page: Page, server: ScriptedServer) -> None:
    show(server, '<p ui-value="name" data-ui-b="0 ui-value">nobody</p>', [])
    expect(page.locator("p")).to_have_text("nobody")


@pytest.mark.covers("UI-BIND-4")
def test_a_text_field_sends_on_blur_and_only_when_it_changed(page: Page, server: ScriptedServer) -> None:
    show(
        server,
        '<input ui-value="n" data-ui-b="0 ui-value"><textarea ui-value="t" data-ui-b="1 ui-value"></textarea>',
        [5, "x"],
    )
    field = page.locator("input")
    expect(field).to_have_value("5")

    field.focus()
    page.locator("textarea").focus()
    assert server.silent(page)

    field.fill("6")
    assert server.silent(page)
    page.locator("textarea").focus()
    assert server.hear() == {"userEvent": True, "messages": [[2, 0, "6"]]}
    page.keyboard.type("y")
    field.focus()
    assert server.hear()["messages"] == [[2, 1, "xy"]]
    assert server.silent(page)


@pytest.mark.covers("UI-BIND-4")
def test_keypress_sends_while_typing(page: Page, server: ScriptedServer) -> None:
    show(server, '<input ui-value="n?keypress" data-ui-b="0 ui-value">', [""])
    page.locator("input").press_sequentially("ab")
    assert server.hear()["messages"] == [[2, 0, "a"]]
    assert server.hear()["messages"] == [[2, 0, "ab"]]


def test_a_select_sends_what_was_chosen(page: Page, server: ScriptedServer) -> None:
    html = '<select ui-value="n" data-ui-b="0 ui-value"><option>a</option><option>b</option></select>'
    show(server, html, ["b"])
    expect(page.locator("select")).to_have_value("b")
    page.locator("select").select_option("a")
    assert server.hear()["messages"] == [[2, 0, "a"]]


@pytest.mark.covers("UI-BIND-5")
def test_checkbox_radio_range_and_date_go_both_ways(page: Page, server: ScriptedServer) -> None:
    html = (
        '<input type="checkbox" ui-value="c" data-ui-b="0 ui-value">'
        '<input type="radio" name="r" value="x" ui-value="r" data-ui-b="1 ui-value">'
        '<input type="radio" name="r" value="y" ui-value="r" data-ui-b="2 ui-value">'
        '<input type="range" max="10" ui-value="s" data-ui-b="3 ui-value">'
        '<input type="date" ui-value="d" data-ui-b="4 ui-value">'
    )
    show(server, html, [True, "x", "x", 3, "2026-01-02"])
    box, first, second = page.locator("[type=checkbox]"), page.locator("[value=x]"), page.locator("[value=y]")
    expect(box).to_be_checked()
    expect(first).to_be_checked()
    expect(page.locator("[type=range]")).to_have_value("3")
    expect(page.locator("[type=date]")).to_have_value("2026-01-02")

    box.click()
    assert server.hear()["messages"] == [[2, 0, False]]
    second.click()
    assert server.hear()["messages"] == [[2, 2, "y"]]
    server.say([2, 1, "y"], [2, 2, "y"])
    expect(second).to_be_checked()
    page.locator("[type=range]").fill("7")
    assert server.hear()["messages"] == [[2, 3, "7"]]
    page.locator("[type=date]").fill("2026-03-04")
    page.locator("[type=date]").blur()
    assert server.hear()["messages"] == [[2, 4, "2026-03-04"]]


@pytest.mark.covers("UI-BIND-5")
def test_an_own_change_event_takes_a_toggle_over(page: Page, server: ScriptedServer) -> None:
    html = '<input type="checkbox" ui-value="on" ui-event-change="toggle()" data-ui-b="0 ui-value;1 ui-event-change">'
    show(server, html, [False])
    page.locator("input").click()
    assert server.hear()["messages"] == [[2, 1]]
    assert server.silent(page)


@pytest.mark.covers("UI-BIND-3", "UI-BIND-5")
def test_shoelace_fields_go_both_ways(page: Page, server: ScriptedServer) -> None:
    html = (
        '<sl-input id="in" ui-value="i" data-ui-b="0 ui-value"></sl-input>'
        '<sl-switch ui-value="s" data-ui-b="1 ui-value">on</sl-switch>'
        '<sl-checkbox ui-value="c" data-ui-b="2 ui-value">c</sl-checkbox>'
        '<sl-select ui-value="o" data-ui-b="3 ui-value"><sl-option value="1">One</sl-option>'
        '<sl-option value="2">Two</sl-option></sl-select>'
        '<sl-radio-group ui-value="g" data-ui-b="4 ui-value"><sl-radio value="a">A</sl-radio>'
        '<sl-radio value="b">B</sl-radio></sl-radio-group>'
        '<sl-range ui-value="r" data-ui-b="5 ui-value"></sl-range>'
        '<sl-rating ui-value="t" data-ui-b="6 ui-value"></sl-rating>'
        '<sl-textarea ui-value="x?keypress" data-ui-b="7 ui-value"></sl-textarea>'
        '<sl-color-picker ui-value="k" data-ui-b="8 ui-value"></sl-color-picker>'
        '<sl-badge ui-value="b" data-ui-b="9 ui-value"></sl-badge>'
        '<sl-progress-bar ui-value="p" data-ui-b="10 ui-value"></sl-progress-bar>'
    )
    show(server, html, ["Ann", True, False, 2, "a", 40, 3, "note", "#ff0000", "new", 60])
    expect(page.locator("sl-badge")).to_have_text("new")
    page.wait_for_function("document.querySelectorAll(':not(:defined)').length === 0")
    state = page.evaluate(
        """() => [...document.querySelectorAll('[ui-value]:not(sl-badge)')].map(e => 'checked' in e ? e.checked : e.value)"""
    )
    assert state == ["Ann", True, False, "2", "a", 40, 3, "note", "#ff0000", 60]

    page.locator("#in input").fill("Bob")
    assert server.silent(page)
    page.locator("#in input").blur()
    assert server.hear()["messages"] == [[2, 0, "Bob"]]
    page.locator("sl-switch").click()
    assert server.hear()["messages"] == [[2, 1, False]]
    page.locator("sl-checkbox").click()
    assert server.hear()["messages"] == [[2, 2, True]]
    page.locator("sl-select").click()
    page.locator("sl-option[value='1']").click()
    assert server.hear()["messages"] == [[2, 3, "1"]]
    page.locator("sl-radio[value=b]").click()
    assert server.hear()["messages"] == [[2, 4, "b"]]
    page.locator("sl-range input").fill("70")
    assert server.hear()["messages"] == [[2, 5, 70]]
    page.locator("sl-rating [role=slider]").press("ArrowRight")
    assert server.hear()["messages"] == [[2, 6, 4]]
    page.locator("sl-textarea textarea").press_sequentially("!")
    assert server.hear()["messages"] == [[2, 7, "note!"]]


@pytest.mark.covers("UI-BIND-6")
def test_write_only_fields_send_every_time_and_show_nothing(page: Page, server: ScriptedServer) -> None:
    show(
        server,
        '<select ui-value="n?access=w" data-ui-b="0 ui-value"><option>a</option><option>b</option></select>',
        ["b"],
    )
    expect(page.locator("select")).to_have_value("a")
    page.locator("select").dispatch_event("change")
    page.locator("select").dispatch_event("change")
    assert server.hear()["messages"] == [[2, 0, "a"]]
    assert server.hear()["messages"] == [[2, 0, "a"]]


def test_read_only_fields_never_send(page: Page, server: ScriptedServer) -> None:
    show(
        server,
        '<input ui-value="n()" data-ui-b="0 ui-value"><input ui-value="m?access=r" data-ui-b="1 ui-value">',
        ["a", "b"],
    )
    expect(page.locator("input")).to_have_count(2)
    for field in page.locator("input").all():
        field.fill("other")
        field.blur()
    assert server.silent(page)


def test_any_element_may_announce_a_value(page: Page, server: ScriptedServer) -> None:
    show(server, '<span ui-value="n?access=rw" data-ui-b="0 ui-value">a</span>', ["a"])
    page.locator("span").evaluate("e => e.dispatchEvent(new CustomEvent('ui-value-change', {detail: {value: 9}}))")
    assert server.hear()["messages"] == [[2, 0, 9]]


@pytest.mark.covers("UI-BIND-2")
def test_attributes_classes_and_styles_follow_their_values(page: Page, server: ScriptedServer) -> None:
    html = (
        '<p ui-attr-title="t" ui-attr-data-n="n" ui-class-on="c" ui-style-color="s" ui-style---gap="g" ui-repeat="x"'
        ' data-ui-b="0 ui-attr-title;1 ui-attr-data-n;2 ui-class-on;3 ui-style-color;4 ui-style---gap">x</p>'
    )
    show(server, html, ["T", 0, "false", "red", "3px"])
    p = page.locator("p")
    expect(p).to_have_attribute("title", "T")
    expect(p).to_have_attribute("data-n", "0")
    expect(p).to_have_class("ui-view-2 on")
    assert p.evaluate("e => [e.style.color, e.style.getPropertyValue('--gap')]") == ["red", "3px"]

    server.say([2, 0, False], [2, 1, ""], [2, 2, 0], [2, 3, None])
    expect(p).not_to_have_attribute("title", "T")
    assert p.evaluate(
        "e => [e.hasAttribute('title'), e.getAttribute('data-n'), e.classList.contains('on'), e.style.color]"
    ) == [
        False,
        "",
        False,
        "",
    ]


def test_html_goes_inside_or_takes_the_place(page: Page, server: ScriptedServer) -> None:
    html = (
        '<p ui-html="a" data-ui-b="0 ui-html"></p><i id="spot" ui-html="b?replace" data-ui-b="1 ui-html"></i><u>end</u>'
    )
    show(server, html, ["<b>bold</b>", "<em>one</em><em>two</em>"])
    expect(page.locator("p b")).to_have_text("bold")
    expect(page.locator("em")).to_have_count(2)
    expect(page.locator("em#spot")).to_have_text("one")
    expect(page.locator("i")).to_have_count(0)

    server.say([2, 1, "only text"], [2, 0, None])
    expect(page.locator("span#spot")).to_have_text("only text")
    expect(page.locator("em")).to_have_count(0)
    expect(page.locator("p")).to_be_empty()

    server.say([2, 1, ""])
    expect(page.locator("span#spot")).to_be_hidden()
    server.say([2, 1, "<em>back</em>"])
    expect(page.locator("em#spot + u")).to_have_text("end")


def test_code_runs_on_every_update_and_survives_its_errors(
    page: Page, server: ScriptedServer, console: list[str]
) -> None:
    show(
        server,
        '<p ui-code="c" data-ui-b="0 ui-code"></p>',
        ["element.textContent = variable.value.length + typeof store.get"],
    )
    expect(page.locator("p")).to_have_text("62function")
    server.say([2, 0, "throw new Error('bad')"])
    server.say([2, 0, "element.textContent = 'ok'"])
    expect(page.locator("p")).to_have_text("ok")
    assert "bad" in console.pop()


def test_an_action_is_one_small_frame(page: Page, server: ScriptedServer) -> None:
    html = (
        '<button ui-action="go()" data-ui-b="0 ui-action">go</button>'
        '<a href="/away" ui-action="link()" data-ui-b="1 ui-action">link</a>'
        '<input id="v" ui-value="x" ui-action="pick(_)" data-ui-b="2 ui-value;3 ui-action" value="">'
    )
    show(server, html, [None, None, "val"])
    page.locator("button").click()
    assert server.hear_frame() == [2, 0]
    page.locator("a").click()
    assert server.hear()["messages"] == [[2, 1]]
    page.locator("input").click()
    assert server.hear()["messages"] == [[2, 3, "val"]]
    assert page.url.rstrip("/") == server.url


@pytest.mark.covers("UI-WIRE-6")
def test_what_was_typed_is_sent_before_the_click_that_uses_it(page: Page, server: ScriptedServer) -> None:
    html = '<input ui-value="n" data-ui-b="0 ui-value"><button ui-action="save()" data-ui-b="1 ui-action">save</button>'
    show(server, html, [""])
    page.locator("input").fill("abc")
    page.locator("button").click()
    heard = server.hear()["messages"]
    while [2, 1] not in heard:
        heard += server.hear()["messages"]
    assert heard == [[2, 0, "abc"], [2, 1]]


def test_events_sync_the_value_first(page: Page, server: ScriptedServer) -> None:
    html = '<input ui-event-input="typed()" ui-value="n" ui-event-focus="in(_)" data-ui-b="0 ui-event-input;1 ui-value;2 ui-event-focus">'
    show(server, html, [None, "a"])
    page.locator("input").focus()
    assert server.hear()["messages"] == [[2, 2, "a"]]
    page.keyboard.type("b")
    assert server.hear()["messages"] == [[2, 1, "ab"], [2, 0]]


def test_key_presses_match_exactly_and_every_time(page: Page, server: ScriptedServer) -> None:
    html = (
        '<input ui-value="n" ui-event-keypress-enter="send()" ui-event-keypress-ctrl-shift-k="key" ui-event-keypress-left="left(_)"'
        ' data-ui-b="0 ui-value;1 ui-event-keypress-enter;2 ui-event-keypress-ctrl-shift-k;3 ui-event-keypress-left">'
    )
    show(server, html, [""])
    field = page.locator("input")
    field.press_sequentially("hi")
    field.press("Enter")
    assert server.hear()["messages"] == [[2, 0, "hi"], [2, 1]]
    field.press("Enter")
    assert server.hear()["messages"] == [[2, 1]]
    field.press("Shift+Enter")
    field.press("Control+k")
    assert server.silent(page)
    field.press("Control+Shift+K")
    assert server.hear()["messages"] == [[2, 2, "k"]]
    field.press("ArrowLeft")
    assert server.hear()["messages"] == [[2, 3, "left"]]
    server.say([2, 0, ""])
    expect(field).to_have_value("")


@pytest.mark.covers("UI-BIND-8")
def test_an_error_shows_on_its_element_until_it_is_good_again(page: Page, server: ScriptedServer) -> None:
    show(
        server,
        '<p ui-value="a.b" data-ui-b="0 ui-value">x</p><p id="ok" ui-value="c" data-ui-b="1 ui-value"></p>',
        [None, "fine"],
    )
    server.say(failure(2, 0, "path-failure", "a is not a table"))
    p = page.locator("p").first
    expect(p).to_have_class("ui-view-2 ui-error")
    expect(p).to_have_attribute("ui-error-code", "path-failure")
    expect(p).to_have_attribute("ui-error-description", "a is not a table")
    p.hover()
    expect(page.locator(".ui-error-tip")).to_contain_text("a is not a table")
    expect(page.locator("#ok")).to_have_text("fine")

    server.say([2, 0, "good"])
    expect(p).to_have_class("ui-view-2")
    expect(p).not_to_have_attribute("ui-error-code", "path-failure")


@pytest.mark.covers("UI-BIND-7")
def test_scroll_on_output_follows_new_content_unless_its_reader_is_further_up(
    page: Page, server: ScriptedServer
) -> None:
    server.say(
        viewdefs(
            A__DEFAULT='<div id="log" style="height:50px;overflow:auto" ui-viewlist="rows?scrollOnOutput" data-ui-b="0 ui-viewlist"></div>',
            R__DEFAULT='<div style="height:30px" ui-value="t" data-ui-b="0 ui-value"></div>',
        ),
        root("A.DEFAULT", [[[10, "R.DEFAULT", ["a"]]]]),
    )
    log = page.locator("#log")
    expect(log).to_have_text("a")
    assert log.evaluate("e => e.scrollTop") == 0
    server.say([2, 0, 4], *(place(2, 0, "R.DEFAULT", ["b"], 20 + i, i) for i in range(1, 4)))
    expect(log.locator("> div")).to_have_count(4)
    assert log.evaluate("e => Math.abs(e.scrollHeight - e.clientHeight - e.scrollTop) < 2")

    log.evaluate("e => { e.scrollTop = 10 }")
    server.say([2, 0, 5], place(2, 0, "R.DEFAULT", ["c"], 24, 4))
    expect(log.locator("> div")).to_have_count(5)
    assert log.evaluate("e => e.scrollTop") == 10

    log.evaluate("e => { e.scrollTop = e.scrollHeight }")
    server.say([2, 0, 6], place(2, 0, "R.DEFAULT", ["d"], 25, 5))
    expect(log.locator("> div")).to_have_count(6)
    assert log.evaluate("e => Math.abs(e.scrollHeight - e.clientHeight - e.scrollTop) < 2")


def test_an_unknown_custom_element_with_a_value_reports_itself(page: Page, server: ScriptedServer) -> None:
    page.evaluate(
        """() => customElements.define('my-field', class extends HTMLElement {
            get value() { return this.textContent } set value(v) { this.textContent = v } })"""
    )
    show(server, '<my-field ui-value="n" data-ui-b="0 ui-value"></my-field>', ["v"])
    expect(page.locator("my-field")).to_have_text("v")
    assert server.hear() == {
        "userEvent": False,
        "messages": [{"type": "update", "data": {"varId": 1, "properties": {"editable": "A.DEFAULT 0"}}}],
    }
    page.evaluate("const f = document.querySelector('my-field'); f.value = 'w'; f.dispatchEvent(new Event('change'))")
    assert server.hear()["messages"] == [[2, 0, "w"]]
