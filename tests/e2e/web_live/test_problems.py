"""Errors of an app in a real browser: the person sees them, the agent hears of them, and they go away when fixed."""

import json

import pytest
from playwright.sync_api import Page, expect

from e2e.web_live.conftest import Server

LUA = """
Trouble = session:prototype("Trouble", {js = "nothere()"})
function Trouble:total() return 1 end
function Trouble:go() error("boom") end
if not session.reloading then
  trouble = Trouble:new()
  session:setInterval(function() if trouble.js ~= "" then error("tick failed") end end, 50)
end
"""
HTML = """<template><div>
  <b id="sum" ui-value="totl()"></b><sl-buton>x</sl-buton><sl-icon name="piggy-bankk"></sl-icon>
  <button id="go" ui-action="go()">Go</button><i ui-code="js"></i>
</div></template>"""


@pytest.mark.covers("UI-ERR-1", "UI-ERR-2", "UI-ERR-3")
def test_errors_are_seen_by_person_and_agent_until_fixed(server: Server, page: Page, console: list[str]) -> None:
    folder = server.base / "apps" / "trouble"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(LUA)
    view = folder / "viewdefs" / "Trouble.DEFAULT.html"
    view.write_text(HTML)
    server.call("ui_display", name="trouble")
    page.goto(server.url)

    page.click("#go")
    expect(page.locator(".ui-error-tip")).to_contain_text("boom")
    expect(page.locator(".ui-problems-open")).to_have_text("6 problems")
    page.click(".ui-problems-open")
    listed = page.inner_text(".ui-problems-list")

    for text in (
        "apps/trouble/viewdefs/Trouble.DEFAULT.html:3\napps/trouble/app.lua:4",
        "No method 'totl' of Trouble\nDid you mean total()?",
        "Tick failed\napps/trouble/app.lua:7",
        "ReferenceError: nothere is not defined",
        "There is no tag <sl-buton>\nDid you mean sl-button?",
        'There is no icon "piggy-bankk"\nDid you mean piggy-bank?',
    ):
        assert text in listed
    running = server.call("ui_audit", name="trouble")["running"]
    assert sorted(one["kind"] for one in running) == ["action", "binding", "code", "icon", "tag", "timer"]
    text = server.request("resources/read", {"uri": "ui://events"})["contents"][0]["text"]
    told = [event["kind"] for event in json.loads(text) if event.get("event") == "app_error"]
    assert sorted(told) == ["action", "binding", "code", "icon", "tag", "timer"]

    server.call("ui_run", code="trouble.js = '' function Trouble:go() end")
    view.write_text(HTML.replace("totl", "total").replace("sl-buton", "sl-button").replace("bankk", "bank"))
    page.keyboard.press("Escape")

    expect(page.locator(".ui-problem")).to_have_count(0)
    console.clear()
