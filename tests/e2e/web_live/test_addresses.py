"""Apps have addresses: URL, title, icon and history of each tab; tabs do not follow each other."""

import re
from typing import Literal

import httpx2
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .conftest import Server

pytestmark = [pytest.mark.slow, pytest.mark.covers("UI-PAGE-12")]

NOTES = """
Notes = session:prototype("Notes", { open = "" })
function Notes:read(name) self.open = name end
function Notes:address() if self.open ~= "" then return self.open, "Note " .. self.open end end
function Notes:visit(path) self.open = path end
if not session.reloading then notes = Notes:new() end
"""
VIEW = """<template><main>
  <h1>Notes</h1><p id="open" ui-value="open"></p>
  <button id="a" ui-action="read('a b')">a</button><button id="b" ui-action="read('b/c')">b</button>
</main></template>"""

ANIMATED = """window.animated = []; const animate = Element.prototype.animate;
Element.prototype.animate = function (...all) { animated.push(this.id); return animate.apply(this, all); }"""


@pytest.fixture
def apps(server: Server) -> Server:
    folder = server.base / "apps" / "notes"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(NOTES)
    (folder / "README.md").write_text("# My notes\n\nKeeps them.\n")
    (folder / "viewdefs" / "Notes.DEFAULT.html").write_text(VIEW)
    return server


def test_an_app_is_opened_by_its_address_and_named_in_the_title(apps: Server, page: Page) -> None:
    page.goto(f"{apps.url}/app/counter")
    expect(page.locator("#count")).to_have_text("0")
    expect(page).to_have_title("Counter")
    expect(page.locator("#app-favicon")).to_have_attribute("href", "/app/counter/favicon.svg")

    page.reload()
    expect(page.locator("#count")).to_have_text("0")
    assert apps.call("ui_run", code="return mcp.value == counter") is True


def test_back_and_forward_switch_between_apps(apps: Server, page: Page) -> None:
    page.goto(apps.url)
    page.locator(".shell-tile", has_text="Counter").click()
    expect(page).to_have_url(re.compile("/app/counter$"))
    apps.call("ui_display", name="notes")
    expect(page).to_have_url(re.compile("/app/notes$"))
    expect(page).to_have_title("My notes")

    page.go_back()
    expect(page.locator("#count")).to_be_visible()
    expect(page).to_have_title("Counter")
    page.go_back()
    expect(page.locator(".shell-landing")).to_be_visible()
    page.go_forward()
    expect(page.locator("#count")).to_be_visible()


@pytest.mark.parametrize(("motion", "seen"), [("no-preference", ["shell-main"] * 3), ("reduce", [])])
def test_another_app_comes_in_softly_but_an_edit_does_not(
    apps: Server, page: Page, motion: Literal["no-preference", "reduce"], seen: list[str]
) -> None:
    page.emulate_media(reduced_motion=motion)
    page.add_init_script(ANIMATED)
    page.goto(f"{apps.url}/app/notes")
    page.get_by_role("button", name="b").click()
    expect(page.locator("#open")).to_have_text("b/c")
    (apps.base / "apps/notes/viewdefs/Notes.DEFAULT.html").write_text(VIEW.replace("Notes", "My notes"))
    expect(page.get_by_role("heading", name="My notes")).to_be_visible()
    assert page.evaluate("animated") == []

    apps.call("ui_display", name="counter")
    expect(page.locator("#count")).to_be_visible()
    page.go_back()
    expect(page.locator("#open")).to_be_attached()
    page.go_forward()
    expect(page).to_have_title("Counter")

    assert page.evaluate("animated") == seen


def test_two_tabs_show_two_apps_until_the_agent_displays_one(apps: Server, page: Page, context: BrowserContext) -> None:
    page.goto(f"{apps.url}/app/counter")
    expect(page.locator("#count")).to_be_visible()
    other = context.new_page()
    other.goto(f"{apps.url}/app/notes")
    expect(other.locator("#open")).to_be_attached()

    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("1")
    expect(other.locator("#open")).to_be_attached()
    other.locator(".shell-brand").click()
    other.get_by_role("button", name="Start page").click()
    expect(other.locator(".shell-landing")).to_be_visible()
    expect(page.locator("#count")).to_have_text("1")

    apps.call("ui_display", name="notes")
    expect(page.locator("#open")).to_be_attached()
    expect(other.locator("#open")).to_be_attached()


def test_an_app_decides_what_its_address_leads_to(apps: Server, page: Page) -> None:
    page.goto(f"{apps.url}/app/notes/first")
    expect(page.locator("#open")).to_have_text("first")
    expect(page).to_have_title("Note first · My notes")

    page.locator("#a").click()
    expect(page).to_have_url(re.compile("/app/notes/a%20b$"))
    page.locator("#b").click()
    expect(page).to_have_url(re.compile("/app/notes/b/c$"))
    page.go_back()
    expect(page.locator("#open")).to_have_text("a b")
    page.go_back()
    expect(page.locator("#open")).to_have_text("first")
    assert apps.call("ui_run", code="return notes.open") == "first"


def test_an_address_without_an_app_says_so(apps: Server, page: Page) -> None:
    page.goto(f"{apps.url}/app/nothing")

    expect(page.locator(".ui-notice")).to_contain_text("There is no app called “nothing” here.")
    expect(page).to_have_url(re.compile(f"{apps.url}/$"))


def test_an_app_has_an_icon(apps: Server) -> None:
    drawn = httpx2.get(f"{apps.url}/app/notes/favicon.svg", timeout=60)
    assert ">N</text>" in drawn.text

    (apps.base / "apps" / "notes" / "favicon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    own = httpx2.get(f"{apps.url}/app/notes/favicon.svg", timeout=60)
    assert own.text == "<svg xmlns='http://www.w3.org/2000/svg'/>"
    assert "sandbox" in own.headers["content-security-policy"]


@pytest.mark.covers("UI-SHELL-10")
def test_the_menu_opens_in_one_tab_and_lists_what_was_opened_last_first(
    apps: Server, page: Page, context: BrowserContext
) -> None:
    page.goto(f"{apps.url}/app/counter")
    expect(page.locator("#count")).to_be_visible()
    other = context.new_page()
    other.goto(f"{apps.url}/app/notes")
    expect(other.locator("#open")).to_be_attached()
    apps.call("ui_run", code="mcp.opened = { notes = os.time() + 100 }")

    page.locator(".shell-brand").click()

    expect(page.locator(".shell-app-item").first).to_contain_text("My notes")
    expect(other.locator(".shell-menu")).to_be_hidden()
    expect(other.locator(".shell-brand")).to_have_attribute("aria-expanded", "false")
