"""Weeks and days of `ui-calendar` in a real browser."""

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from . import gallery
from .conftest import Server
from .test_form_elements import lua
from .test_pages import accessible

pytestmark = [pytest.mark.slow, pytest.mark.covers("UI-ELEM-9")]
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LUA = """
Diary = session:prototype("Diary", { entries = EMPTY, view = "week", said = "" })
function Diary:say(text) self.said = text end
function Diary:look(view) self.view = view end
function Diary:moved(entry) self.said = entry.title .. " on " .. entry.date end
if not session.reloading then diary = Diary:new({ entries = {} }) end
"""
HTML = """<section id="app"><h1 id="title">ui-calendar</h1>
<ui-calendar ui-value="entries" ui-attr-view="view" day="2026-03-10" hour="8" ui-event-day="say(_)"
  ui-event-turn="say(_)" ui-event-view="look(_)" ui-event-move="moved(_)"></ui-calendar>
<output ui-value="said"></output></section>"""
ENTRIES = """diary.view = "week" diary.entries = {
  { title = "Launch", date = "2026-03-10", time = "09:00" },
  { title = "Review", date = "2026-03-10T09:30", to = "11:00", color = "teal" },
  { title = "Trip", date = "2026-03-08", to = "2026-03-10" },
}"""


@pytest.fixture
def diary(shelf: Server, page: Page) -> Server:
    gallery.add(shelf, "Diary", LUA, HTML)
    shelf.call("ui_display", name="diary")
    lua(shelf, ENTRIES)
    page.goto(shelf.url)
    gallery.ready(page, "ui-calendar")
    return shelf


def test_overlapping_entries_stand_side_by_side_below_those_of_whole_days(diary: Server, page: Page) -> None:
    expect(page.locator("ui-calendar .title")).to_have_text("Mar 8 \u2013 14, 2026")
    whole = page.get_by_role("list", name="All day")
    day = page.get_by_role("list", name="Tuesday, March 10")
    launch, review, trip = (
        place.bounding_box()
        for place in (day.get_by_role("listitem").first, day.get_by_role("listitem").last, whole.get_by_role("button"))
    )
    assert launch
    assert review
    assert trip
    assert launch["x"] + launch["width"] <= review["x"]
    assert launch["y"] < review["y"] < launch["y"] + launch["height"] < review["y"] + review["height"]
    assert trip["width"] > 5 * launch["width"]
    assert trip["y"] < launch["y"]


def test_entries_move_by_quarters_of_an_hour_and_by_dragging(diary: Server, page: Page) -> None:
    page.get_by_role("button", name="09:30\u201311:00 Review").press("Alt+ArrowDown")
    expect(page.get_by_role("button", name="09:45\u201311:15 Review")).to_be_focused()
    page.keyboard.press("Alt+ArrowRight")
    expect(page.locator("#app output")).to_have_text("Review on 2026-03-11T09:45")
    assert lua(diary, "return diary.entries[2].to") == "11:15"
    page.keyboard.press("ArrowLeft")
    launch = page.get_by_role("button", name="Launch")
    expect(launch).to_be_focused()

    cell = page.locator("[data-date='2026-03-12'][data-hour='14']")
    launch.drag_to(cell, source_position={"x": 9, "y": 5}, target_position={"x": 9, "y": 5})
    expect(page.locator("#app output")).to_have_text("Launch on 2026-03-12")
    assert lua(diary, "return diary.entries[1].time") == "14:00"


def test_hours_are_chosen_by_keyboard(diary: Server, page: Page) -> None:
    said = page.locator("#app output")
    page.get_by_role("gridcell", name="Tuesday, March 10, 08:00").press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(said).to_have_text("2026-03-11T09:00")
    page.keyboard.press("PageDown")
    expect(said).to_have_text("2026-03-15")
    expect(page.get_by_role("gridcell", name="Wednesday, March 18, 09:00")).to_be_focused()


def test_the_views_are_chosen_by_the_person_and_by_lua(diary: Server, page: Page) -> None:
    title, said = page.locator("ui-calendar .title"), page.locator("#app output")
    page.get_by_role("button", name="Tuesday, March 10").click()
    expect(title).to_have_text("Tuesday, March 10, 2026")
    page.get_by_role("button", name="Next day").click()
    expect(said).to_have_text("2026-03-11")
    assert lua(diary, "return diary.view") == "day"

    page.get_by_role("button", name="Today").click()
    expect(page.locator("ui-calendar [aria-current=date]")).to_be_visible()
    expect(page.locator("ui-calendar .now-line")).to_have_count(1)
    lua(diary, "diary.view = 'month'")
    expect(page.get_by_role("button", name="Next month")).to_be_visible()
    page.locator("ui-calendar").evaluate("(calendar) => calendar.setAttribute('views', 'week')")
    expect(page.get_by_role("button", name="Next week")).to_be_visible()
    expect(page.get_by_role("group", name="View")).to_be_hidden()


def test_days_of_a_month_follow_the_arrows(diary: Server, page: Page) -> None:
    lua(diary, "diary.view = 'month'")
    page.get_by_role("gridcell", name="Tuesday, March 10, 2026").press("ArrowLeft")
    expect(page.get_by_role("heading", name="Monday, March 9")).to_be_visible()
    expect(page.get_by_role("button", name="Trip")).to_be_visible()


@pytest.mark.parametrize("view", ["week", "day"])
def test_hours_are_accessible_and_fit_a_phone(diary: Server, page: Page, view: str) -> None:
    lua(diary, f"diary.view = '{view}'")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_role("button", name="Review")).to_be_visible()
        accessible(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
