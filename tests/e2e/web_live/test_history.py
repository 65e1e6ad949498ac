"""Undo by keys, the history beside the app and a past moment, in a real browser; `HISTORY_SHOTS=DIR` keeps pictures."""

import os
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow


def shot(page: Page, name: str) -> None:
    if folder := os.environ.get("HISTORY_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def press(counter: Server, page: Page, count: int) -> None:
    """Press a button several times, each as a step of its own: clicks within some milliseconds would be one."""
    for _ in range(count):
        before = int(page.locator("#count").inner_text())
        page.locator("#up").click()
        expect(page.locator("#count")).to_have_text(str(before + 1))
        counter.call("ui_history", limit=1)


@pytest.mark.covers("STATE-5")
def test_the_keys_undo_and_redo_outside_of_text_fields(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    press(counter, page, 3)
    page.keyboard.press("Control+z")
    expect(page.locator("#count")).to_have_text("2")
    expect(page.locator(".ui-notice-text").last).to_have_text("Undone: Up")
    page.keyboard.press("Control+Shift+Z")
    expect(page.locator("#count")).to_have_text("3")

    page.locator("#name").fill("typed")
    page.keyboard.press("Control+z")
    expect(page.locator("#name")).to_have_value("")
    expect(page.locator("#count")).to_have_text("3")


@pytest.mark.covers("STATE-6")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390), ("dark", 390)])
def test_any_moment_can_be_looked_at_and_returned_to(
    counter: Server, context: BrowserContext, scheme: Literal["light", "dark"], width: int
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.goto(counter.url)
    counter.call("ui_run", code="counter.count = 0")
    press(counter, page, 3)
    counter.call("ui_run", code="counter.name = 'agent'")
    page.keyboard.press("Alt+h")
    expect(page.locator(".ui-history-label").first).to_have_text("Run counter.name = 'agent'")
    expect(page.locator(".ui-history-who").nth(1)).to_contain_text("You")
    shot(page, f"list-{scheme}-{width}")
    accessible(page, ".ui-history")

    page.get_by_role("slider", name="Moment to look at").press("ArrowLeft")
    page.get_by_role("slider", name="Moment to look at").press("ArrowLeft")
    past = page.frame_locator(".ui-history-frame")
    expect(past.locator("#count")).to_have_text("2")
    past.locator("#up").dispatch_event("click")  # a person cannot press it
    expect(past.locator(".ui-notice-text")).to_have_text("A past moment can only be looked at")
    expect(past.locator("#count")).to_have_text("2")
    shot(page, f"past-{scheme}-{width}")
    accessible(page, ".ui-history")
    accessible(page, ".ui-history-note")

    page.get_by_role("button", name="Return here").click()
    expect(page.locator("[ui-app] #count")).to_have_text("2")
    expect(page.locator(".ui-history-view")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".ui-history")).to_have_count(0)


@pytest.mark.covers("STATE-6")
def test_the_step_that_is_looked_at_is_visible_keeps_the_focus_and_the_app_its_place(
    counter: Server, page: Page
) -> None:
    page.set_viewport_size({"width": 1200, "height": 320})
    page.goto(counter.url)
    press(counter, page, 3)
    page.keyboard.press("Alt+h")
    expect(page.locator(".ui-history-label").first).to_have_text("Up")
    slider = page.get_by_role("slider", name="Moment to look at")
    expect(slider).to_be_focused()

    slider.press("Home")
    expect(page.locator(".ui-history-step").last).to_have_attribute("aria-current", "step")
    expect(page.locator(".ui-history-step").last).to_be_in_viewport()
    page.locator(".ui-history-step").nth(1).press("Enter")
    expect(page.locator(".ui-history-step").nth(1)).to_have_attribute("aria-current", "step")
    expect(page.locator(".ui-history-step").nth(1)).to_be_focused()

    page.get_by_role("button", name="Back to now").click()
    app, panel = page.locator("[ui-app]").bounding_box(), page.locator(".ui-history").bounding_box()
    assert app is not None
    assert panel is not None
    assert app["x"] + app["width"] <= panel["x"]
