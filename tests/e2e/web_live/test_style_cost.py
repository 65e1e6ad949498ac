"""How much of a page the browser computes anew for a small change."""

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from .conftest import Server

LUA = """
Big = session:prototype("Big", { count = 0, rows = {} })
Row = session:prototype("Big.Row", { text = "" })
function Big:up()
    self.count = self.count + 1
    self.rows[150].text = "row " .. self.count
end
function Big:more() table.insert(self.rows, Row:new({ text = "one more" })) end
if not session.reloading then
    big = Big:new()
    for number = 1, 300 do big.rows[number] = Row:new({ text = "row " .. number }) end
end
"""
VIEW = """<template><div><button id="up" ui-action="up()">Up</button><button id="more" ui-action="more()">More</button>
<b id="count" ui-value="count"></b><section ui-for="rows"><p ui-value="text"></p></section></div></template>"""


@pytest.mark.slow
@pytest.mark.covers("UI-PAGE-13")
def test_a_changed_text_and_a_new_row_leave_the_style_of_the_other_rows_alone(
    shelf: Server, chromium: Browser, page: Page
) -> None:
    app = shelf.base / "apps" / "big"
    (app / "viewdefs").mkdir(parents=True)
    (app / "app.lua").write_text(LUA)
    (app / "viewdefs" / "Big.DEFAULT.html").write_text(VIEW)
    shelf.call("ui_display", name="big")
    page.goto(shelf.url)
    expect(page.get_by_text("row 300")).to_be_attached()
    page.click("#up")
    expect(page.locator("#count")).to_have_text("1")

    chromium.start_tracing(page=page, categories=["devtools.timeline"])
    page.evaluate("document.querySelector('#up').click()")
    expect(page.locator("#count")).to_have_text("2")
    page.evaluate("document.querySelector('#more').click()")
    expect(page.get_by_text("one more")).to_be_attached()
    events = json.loads(chromium.stop_tracing())["traceEvents"]

    styled = [event["args"]["elementCount"] for event in events if event["name"] == "UpdateLayoutTree"]
    assert styled
    assert max(styled) < 100
