"""Pressing a control while the page changes."""

import pytest
from playwright.sync_api import Page, expect

from .conftest import Server

LUA = """
Form = session:prototype("Form", { mail = "x", sent = 0, tried = true })
function Form:problem() return not self.mail:find("@") and "This is no address." or nil end
function Form:send() self.sent = self.sent + 1 end
if not session.reloading then form = Form:new() end
"""
VIEW = """<template><div><input id="mail" ui-value="mail">
<p style="height: 200px" ui-if="problem()" ui-value="problem()"></p>
<button id="send" ui-action="send()">Send</button><b id="sent" ui-value="sent"></b></div></template>"""


@pytest.mark.slow
@pytest.mark.covers("UI-BIND-30")
def test_a_click_counts_although_its_press_makes_a_message_above_vanish(shelf: Server, page: Page) -> None:
    app = shelf.base / "apps" / "form"
    (app / "viewdefs").mkdir(parents=True)
    (app / "app.lua").write_text(LUA)
    (app / "viewdefs" / "Form.DEFAULT.html").write_text(VIEW)
    shelf.call("ui_display", name="form")
    page.goto(shelf.url)
    expect(page.get_by_text("This is no address.")).to_be_visible()
    page.fill("#mail", "ada@example.com")
    box = page.locator("#send").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.wait_for_timeout(200)  # a person's press, in which the answer to the committed field arrives
    page.mouse.up()

    expect(page.locator("#sent")).to_have_text("1")
    expect(page.get_by_text("This is no address.")).to_be_hidden()


NUMBER = """
Order = session:prototype("Order", { count = EMPTY, sent = 0, tried = true })
function Order:problem() return self.tried and not self.count and "How many?" or nil end
function Order:send() if self.count then self.sent = self.sent + self.count end end
if not session.reloading then order = Order:new() end
"""
NUMBER_VIEW = """<template><form ui-event-submit="send()">
<ui-number label="Count" ui-value="count" ui-attr-error="problem()"></ui-number><button>Order</button>
<b id="sent" ui-value="sent"></b></form></template>"""


@pytest.mark.slow
@pytest.mark.covers("UI-BIND-30", "UI-ELEM-4")
def test_a_corrected_field_is_sent_by_the_first_click_and_by_enter(shelf: Server, page: Page) -> None:
    app = shelf.base / "apps" / "order"
    (app / "viewdefs").mkdir(parents=True)
    (app / "app.lua").write_text(NUMBER)
    (app / "viewdefs" / "Order.DEFAULT.html").write_text(NUMBER_VIEW)
    shelf.call("ui_display", name="order")
    page.goto(shelf.url)
    expect(page.get_by_text("How many?")).to_be_visible()
    page.get_by_label("Count").fill("3")
    page.locator("form:has(ui-number) > button").click()
    expect(page.locator("#sent")).to_have_text("3")

    page.get_by_label("Count").fill("4")
    page.get_by_label("Count").press("Enter")
    expect(page.locator("#sent")).to_have_text("7")
