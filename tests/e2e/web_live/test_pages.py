"""The pages people see: shell, start page, themes, variable browser, examples; clean, accessible and offline."""

import shutil
import threading
from pathlib import Path
from typing import Literal

import httpx2
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from chromium import SETTLED
from ui_mcp.ui.console.scaffold import scaffold
from ui_mcp.workspace import BUNDLE, Workspace

from .conftest import Server

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
SHOWN = {
    "annotator": "Image annotator",
    "api-monitor": "API monitor",
    "board": "Task board",
    "contacts": "Contacts",
    "csv-explorer": "CSV explorer",
    "dashboard": "Shop dashboard",
    "expenses": "Expenses",
    "logs": "Log viewer",
    "mission-control": "Mission control",
    "planner": "Project plan",
    "review": "Check discounts, add types",
    "signup": "Create your account",
    "wizard": "Your new bicycle",
}
WIDTHS: dict[int, Literal["light", "dark"]] = {1280: "light", 768: "dark", 390: "light"}


def accessible(page: Page, part: str = "html", *impacts: str) -> None:
    """Fail on anything axe calls serious, or by one of `impacts`, in the page or in a part of it."""
    page.evaluate(SETTLED)
    page.evaluate(f"{AXE.read_text()};0")  # not a script element, which a page's policy may refuse
    found = page.evaluate(
        """async ([part, impacts]) => (await axe.run(part, { resultTypes: ['violations'] })).violations
            .filter((one) => impacts.includes(one.impact))
            .map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 160))])""",
        [part, ["serious", "critical", *impacts]],
    )
    assert found == []


@pytest.mark.covers("UI-PAGE-1", "UI-PAGE-2")
def test_the_start_page_lists_the_apps_and_opens_one(server: Server, page: Page) -> None:
    page.goto(server.url)
    expect(page.get_by_role("heading", name="apps appear here")).to_be_visible()
    assert page.locator(".app-container [ui-app]").count() == 1
    accessible(page)
    page.locator(".shell-tile", has_text="Counter").click()
    expect(page.locator("#count")).to_have_text("0")
    expect(page.locator(".shell-title")).to_have_text("Counter")
    expect(page.locator(".shell-landing")).to_be_hidden()

    page.locator(".shell-brand").click()
    expect(page.locator(".shell-brand")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(page.locator(".shell-app-item", has_text="Counter")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".shell-menu")).to_be_hidden()
    expect(page.locator(".shell-brand")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Start page").click()
    expect(page.locator(".shell-landing")).to_be_visible()


def test_the_shell_says_whether_the_agent_listens(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    sign = page.locator(".shell-sign").first
    expect(sign).to_have_text("Connect an agent")
    waiter = threading.Thread(target=lambda: httpx2.get(f"{counter.mcp}/wait?timeout=60", timeout=70))
    waiter.start()
    expect(sign).to_have_text("Agent listening")
    counter.call("ui_run", code="mcp.pushState({ app = 'counter', event = 'enough' })")
    waiter.join(70)
    expect(sign).to_have_text("Agent working")


@pytest.mark.covers("UI-SHELL-1")
def test_the_shell_shows_the_agents_steps_until_they_are_dismissed(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    steps = page.get_by_label("What the agent is doing")
    expect(steps).to_be_hidden()
    counter.call("ui_run", code="mcp:createTodos({ 'Design', 'Write code' }) mcp:startTodoStep(2)")
    expect(steps).to_contain_text("1 of 2 steps done")
    expect(steps.locator("li")).to_have_text(["✓Design", "▸Write code…"])
    steps.get_by_role("button", name="Fold or unfold").click()
    expect(steps.locator("li").first).to_be_hidden()
    steps.get_by_role("button", name="Dismiss").click()
    expect(steps).to_be_hidden()


@pytest.mark.covers("UI-SHELL-8")
def test_the_finder_opens_an_app_by_keyboard_and_the_sign_connects_an_agent(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    expect(page.locator(".shell-agent")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_label("Find an app")).to_be_focused()
    page.keyboard.type("no such app")
    expect(page.locator(".shell-menu .shell-app-item:visible")).to_have_count(0)
    page.keyboard.press("Escape")
    page.locator(".shell-agent").click()

    dialog = page.get_by_role("dialog", name="Connect an agent")
    expect(dialog).to_contain_text(f"claude mcp add --transport http ui {counter.mcp}/mcp")


def test_a_note_from_lua_appears_until_it_is_dismissed(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    counter.call("ui_run", code="mcp:note('Saved your work')")
    note = page.locator(".shell-notes .ui-notice")
    expect(note).to_contain_text("Saved your work")
    note.get_by_role("button", name="Dismiss").click()
    expect(note).to_have_count(0)


@pytest.mark.covers("UI-JS-2")
def test_themes_follow_the_system_until_one_is_chosen(counter: Server, context: BrowserContext, page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(counter.url)
    expect(page.locator("html")).to_have_class("theme-dark sl-theme-dark")
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_class("theme-light")

    page.locator(".shell-theme select").select_option("dusk")
    expect(page.locator("html")).to_have_class("theme-dusk sl-theme-dark")
    page.reload()
    expect(page.locator("html")).to_have_class("theme-dusk sl-theme-dark")
    expect(page.locator(".shell-theme select")).to_have_value("dusk")
    expect(page.locator("#app-favicon")).to_have_attribute("href", "/app/counter/favicon.svg")


@pytest.mark.parametrize("name", SHOWN)
def test_examples_are_accessible_at_any_width_and_need_no_other_machine(
    server: Server, page: Page, name: str, foreign: list[str]
) -> None:
    shutil.copytree(ROOT / "examples" / name, server.base / "apps" / name)
    looks_finished(server, page, name, SHOWN[name])
    assert foreign == []


@pytest.mark.parametrize("template", sorted(path.name for path in (BUNDLE / "templates").iterdir()))
def test_new_apps_of_every_template_are_accessible_at_any_width(
    server: Server, page: Page, template: str, foreign: list[str]
) -> None:
    scaffold(Workspace.at(server.base), f"my-{template}", None, template)
    looks_finished(server, page, f"my-{template}", f"My {template}")
    assert foreign == []


def looks_finished(server: Server, page: Page, name: str, heading: str) -> None:
    """Fail on whatever axe finds, on things wider than the page and on errors, in three widths."""
    for width, scheme in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(f"{server.url}/app/{name}")
        expect(page.get_by_role("heading", name=heading).first).to_be_visible()
        page.wait_for_function("document.querySelectorAll(':not(:defined, ui-column)').length === 0")
        accessible(page, "html", "moderate", "minor")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0  # the app scrolls inside
        expect(page.locator(".ui-error")).to_have_count(0)


def test_a_card_is_dragged_to_another_column(server: Server, page: Page) -> None:
    shutil.copytree(ROOT / "examples" / "board", server.base / "apps" / "board")
    server.call("ui_display", name="board")
    page.goto(server.url)
    card = page.locator(".board-card", has_text="Write the release notes")
    card.drag_to(page.locator(".board-column").nth(2))
    expect(page.locator(".board-column").nth(2).locator(".board-card")).to_have_count(2)
    expect(page.locator(".summary")).to_have_text("2 of 5 done")


def test_a_password_is_judged_while_it_is_typed(server: Server, page: Page) -> None:
    shutil.copytree(ROOT / "examples" / "signup", server.base / "apps" / "signup")
    server.call("ui_display", name="signup")
    page.goto(server.url)
    page.locator("sl-input[type=password] input").press_sequentially("short")
    expect(page.locator(".meter span")).to_have_text("too short")
    page.keyboard.type("-Ada-Lovelace-1815")
    expect(page.locator(".meter span")).to_have_text("strong")
    assert page.locator("sl-input[type=password]").evaluate("e => e.value") == "short-Ada-Lovelace-1815"


@pytest.mark.covers("UI-HTTP-8")
@pytest.mark.parametrize("port", ["mcp", "url"])
def test_the_variable_browser_shows_live_values_and_finds_them(
    counter: Server, context: BrowserContext, page: Page, port: str
) -> None:
    app = context.new_page()
    app.goto(counter.url)
    expect(app.locator("#count")).to_have_text("0")
    page.goto(f"{getattr(counter, port)}/variables")
    row = page.locator(".line", has=page.get_by_text("count", exact=True)).first
    expect(row.locator(".value")).to_have_text("0")
    app.locator("#up").click()
    expect(row.locator(".value")).to_have_text("1")
    expect(row.locator(".hits")).to_have_text("1")
    accessible(page)

    page.locator("sl-input input").fill("row 2")
    expect(page.locator(".found .path")).to_have_count(1)
    expect(page.locator(".count")).to_contain_text("1 found")
    page.locator(".found .path").click()
    expect(page.locator("aside dd", has_text="row 2").first).to_be_visible()
