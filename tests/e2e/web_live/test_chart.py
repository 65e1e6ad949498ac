"""`ui-chart` in a real browser: every type draws, points appear, keyboard and screen readers get the numbers."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow

TYPES = ["line", "area", "bar", "stacked", "pie", "donut", "scatter", "heatmap", "sparkline", "gauge"]
APP = """
Charts = session:prototype("Charts", { months = EMPTY, none = EMPTY, picked = "" })
function Charts:pick(row) self.picked = row.month end
if not session.reloading then
  charts = Charts:new()
  charts.months = {}
  for at, name in ipairs({ "Jan", "Feb", "Mar", "Apr" }) do
    charts.months[at] = { month = name, food = at * 10, travel = 50 - at * 7, half = at < 3 and "H1" or "H2" }
  end
end
"""
CHART = """<ui-chart id="{0}" type="{0}" label="{0} of months" ui-value="months" x="month" by="half" height="9rem"
  download zoom ui-event-select="pick(_)"></ui-chart>"""
EMPTY = '<ui-chart id="none" label="Nothing" ui-value="none" empty="No points."></ui-chart>'
DRAWN = """(id) => {
  const canvas = document.getElementById(id).shadowRoot.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((byte) => byte !== 0);
}"""


def show(server: Server, page: Page) -> None:
    folder = server.base / "apps" / "charts"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(APP)
    body = "".join(CHART.format(kind) for kind in TYPES) + EMPTY + '<p id="picked" ui-value="picked"></p>'
    view = f"<template><section><h1>Charts</h1>{body}</section></template>"
    (folder / "viewdefs" / "Charts.DEFAULT.html").write_text(view)
    server.call("ui_display", name="charts")
    page.goto(server.url)
    expect(page.locator("#gauge .canvas")).to_have_attribute("data-points", "4")


@pytest.mark.covers("UI-ELEM-3")
def test_every_type_is_drawn_and_says_its_numbers(server: Server, page: Page) -> None:
    show(server, page)
    for kind in TYPES:
        page.wait_for_function(DRAWN, arg=kind)
    expect(page.locator("#none .state")).to_have_text("No points.")
    expect(page.locator("#line .canvas")).to_have_attribute(
        "aria-label", "line of months: line chart, 4 points; food 10 to 40; travel 22 to 43"
    )
    expect(page.locator("#line table tbody tr").first).to_have_text("Jan1043")
    accessible(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.covers("UI-ELEM-3")
def test_points_appear_and_are_read_and_pressed_by_keyboard(server: Server, page: Page) -> None:
    show(server, page)
    server.call("ui_run", code="table.insert(charts.months, { month = 'May', food = 1, travel = 2, half = 'H2' })")
    expect(page.locator("#bar .canvas")).to_have_attribute("data-points", "5")
    page.locator("#bar .canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#bar [aria-live]")).to_have_text("Feb: food 20, travel 36")
    page.keyboard.press("Enter")
    expect(page.locator("#picked")).to_have_text("Feb")
    with page.expect_download() as saved:
        page.locator("#bar").get_by_label("Download picture").click()
    assert saved.value.suggested_filename == "bar-of-months.png"
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.covers("UI-ELEM-10")
def test_the_files_of_an_apps_elements_are_named_in_its_page_and_load_once(server: Server, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(server.url)))
    show(server, page)
    named = page.locator("link[rel=modulepreload]").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    files = [url for url in asked if url.startswith("/vendor/elements/")]
    assert named[0].startswith("/vendor/elements/chart.js?v=")
    assert len(set(files)) == len(files)
    assert set(files) >= set(named)
    assert len(files) == len(named) + 1, "the rest of ECharts comes after the first picture"


@pytest.mark.covers("UI-ELEM-3")
def test_thousands_of_points_are_drawn_read_and_pressed(server: Server, page: Page) -> None:
    show(server, page)
    server.call("ui_run", code="charts.months = {} for i = 1, 3000 do charts.months[i] = { x = i, food = i % 70 } end")
    chart = page.locator("#line")
    chart.evaluate("(one) => one.removeAttribute('x')")
    expect(chart.locator(".canvas")).to_have_attribute("data-points", "3000")
    page.wait_for_function(DRAWN, arg="line")
    chart.locator(".canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(chart.locator("[aria-live]")).to_have_text("2: food 2")
