"""`ui-table` in a real browser: by keyboard, by pointer, and as the agent's tools see it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow

APP = """
Shop = session:prototype("Shop", { items = EMPTY, picked = 0, note = "" })
function Shop:remove(row)
  for at, one in ipairs(self.items) do if one == row then table.remove(self.items, at) return end end
end
function Shop:pick(rows) self.picked = #rows end
function Shop:saved(row) self.note = "saved " .. row.name end
function Shop:table()
  local price = { name = "price", check = function(value) if value > 900 then return "Too much." end end }
  return { rows = self.items, columns = { "name", "kind", price } }
end
function Shop:fill(n)
  self.items = {}
  for i = 1, n do self.items[i] = { name = "item " .. i, kind = i % 2 == 0 and "even" or "odd", price = n - i + 1 } end
end
if not session.reloading then shop = Shop:new() shop:fill(30) end
"""
VIEW = """<template><section>
  <h1>Shop</h1>
  <ui-table label="Items" ui-value="table()" search csv select="many"
            ui-event-select="pick(_)" ui-event-change="saved(_)">
    <ui-column name="name" edit required></ui-column>
    <ui-column name="kind"></ui-column>
    <ui-column name="price" unit="€" edit total="sum"></ui-column>
    <button ui-action="remove(_)">Remove</button>
  </ui-table>
  <output id="picked" ui-value="picked"></output><p id="note" ui-value="note"></p>
</section></template>"""


@pytest.fixture
def shop(server: Server, page: Page) -> Callable[[str], None]:
    """Show the shop with a viewdef."""

    def show(view: str = VIEW) -> None:
        folder: Path = server.base / "apps" / "shop"
        (folder / "viewdefs").mkdir(parents=True)
        (folder / "app.lua").write_text(APP)
        (folder / "viewdefs" / "Shop.DEFAULT.html").write_text(view)
        server.call("ui_display", name="shop")
        page.goto(server.url)
        expect(page.locator("ui-table .rows .row").first).to_be_visible()

    return show


def seen(server: Server, page: Page) -> str:
    """Return the outline; the page's requests are answered by this thread, so another one asks."""
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(server.call, "ui_get_snapshot")
        while not asked.done():
            page.wait_for_timeout(20)
        return str(asked.result())


def first(page: Page) -> str:
    return page.locator("ui-table .rows [col-id=name]").first.inner_text()


@pytest.mark.covers("UI-ELEM-1", "UI-ELEM-2")
def test_a_table_is_used_by_keyboard_alone(server: Server, page: Page, shop: Callable[..., None]) -> None:
    shop()
    accessible(page)
    grid = page.get_by_role("grid", name="Items")
    expect(grid).to_have_attribute("aria-rowcount", "30")

    page.locator("ui-table .rows [col-id=price]").first.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("[role=columnheader][col-id=price]")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("ui-table .rows [col-id=name]").first).to_have_text("item 30")

    page.keyboard.press("ArrowDown")
    page.keyboard.press("F2")
    page.keyboard.type("1000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Too much.")
    assert server.call("ui_run", code="return shop.items[30].price") == 1
    page.keyboard.press("Control+a")
    page.keyboard.type("500")
    page.keyboard.press("Enter")
    expect(page.locator("#note")).to_have_text("saved item 30")
    assert server.call("ui_run", code="return shop.items[30].price") == 500

    page.keyboard.press("Control+Home")
    page.keyboard.press("Space")
    expect(page.locator("#picked")).to_have_text("1")
    page.keyboard.press("Control+End")
    expect(page.locator("ui-table .rows [col-id=name]").last).to_have_text("item 30")
    page.keyboard.press("Enter")  # the row's button
    expect(grid).to_have_attribute("aria-rowcount", "29")
    assert server.call("ui_run", code="return #shop.items") == 29


@pytest.mark.covers("UI-ELEM-2")
def test_rows_are_searched_filtered_grouped_and_taken_along(page: Page, shop: Callable[..., None]) -> None:
    shop()
    page.get_by_label("Search Items").fill("item 1")
    expect(page.locator("ui-table .count")).to_have_text("11 of 30 rows")
    page.locator("[role=columnheader][col-id=price] .more").click()
    page.get_by_label("Filter").fill(">20")
    expect(page.locator("ui-table .count")).to_have_text("2 of 30 rows")
    accessible(page)
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.get_by_label("Download CSV").click()
    assert Path(saved.value.path()).read_bytes() == b"Name,Kind,Price\r\nitem 1,odd,30\r\nitem 10,even,21\r\n"
    assert saved.value.suggested_filename == "items.csv"

    page.locator("[role=columnheader][col-id=kind] .more").click()
    page.get_by_text("Group by this").click()
    expect(page.locator("ui-table .group")).to_have_text(["▾ odd (1) · Price: 30 €", "▾ even (1) · Price: 21 €"])
    page.locator("ui-table .group").first.click()
    expect(page.locator("ui-table .rows .row")).to_have_count(3)
    page.locator("[role=columnheader][col-id=kind] .more").click()
    page.get_by_role("button", name="Hide").click()
    expect(page.locator("[role=columnheader][col-id]")).to_have_count(2)
    page.get_by_label("Search Items").fill("nothing like this")
    expect(page.locator("ui-table .state")).to_have_text("Nothing matches.")


@pytest.mark.covers("UI-ELEM-2")
def test_columns_are_moved_and_resized_and_rows_copied(page: Page, shop: Callable[..., None]) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shop()
    heads = page.locator("[role=columnheader][col-id]")

    page.locator("[role=columnheader][col-id=price]").drag_to(page.locator("[role=columnheader][col-id=name]"))
    expect(heads.first).to_have_attribute("col-id", "price")
    page.locator("[role=columnheader][col-id=price]").focus()
    page.keyboard.press("Alt+ArrowDown")
    page.get_by_role("button", name="Move right").click()
    expect(heads.first).to_have_attribute("col-id", "name")
    names = heads.evaluate_all("(all) => all.map((one) => one.getAttribute('col-id'))")
    assert names == ["name", "price", "kind"]

    width = "(cell) => cell.getBoundingClientRect().width"
    before = heads.first.evaluate(width)
    edge = heads.first.locator(".edge").bounding_box()
    assert edge
    page.mouse.move(edge["x"] + 3, edge["y"] + 10)
    page.mouse.down()
    page.mouse.move(edge["x"] - 47, edge["y"] + 10)
    page.mouse.up()
    assert heads.first.evaluate(width) == pytest.approx(before - 50, abs=4)

    page.get_by_label("Search Items").fill("item 30")
    expect(page.locator("ui-table .count")).to_have_text("1 of 30 rows")
    page.get_by_label("Copy as CSV").click()
    expect(page.locator("ui-table .said")).to_have_text("Copied as CSV")
    assert page.evaluate("navigator.clipboard.readText()").split() == ["Name,Price,Kind", "item", "30,1,even"]


@pytest.mark.covers("UI-ELEM-2")
def test_a_hundred_thousand_rows_scroll_and_one_cell_changes(
    server: Server, page: Page, shop: Callable[..., None]
) -> None:
    shop(VIEW.replace('select="many"', ""))
    server.call("ui_run", code="shop:fill(100000)")
    expect(page.locator("ui-table .count")).to_have_text("100,000 rows")
    assert page.locator("ui-table .rows .row").count() < 60

    page.locator("ui-table .rows [col-id=name]").first.focus()
    page.keyboard.press("Control+End")
    expect(page.locator("ui-table .rows [col-id=name]").last).to_have_text("item 100000")
    server.call("ui_run", code="shop.items[100000].name = 'the end'")
    expect(page.locator("ui-table .rows [col-id=name]").last).to_have_text("the end")

    outline = seen(server, page)
    assert "rows=100000" in outline
    assert "the end" in outline


@pytest.mark.covers("UI-ELEM-2")
def test_a_table_fits_a_phone_and_says_when_it_is_empty(server: Server, page: Page, shop: Callable[..., None]) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    shop(VIEW.replace("search csv", 'page="10" empty="Sold out."'))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("1\u201310 of 30")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("11\u201320 of 30")
    expect(page.locator("ui-table .rows .row")).to_have_count(10)
    assert first(page) == "item 11"
    accessible(page)
    more = page.locator("ui-table .aside")
    expect(more).to_be_visible()
    more.click()
    expect(page.locator("ui-table .rows").get_by_role("button", name="Remove").first).to_be_in_viewport()
    expect(more).to_be_hidden()
    server.call("ui_run", code="shop.items = {}")
    expect(page.locator("ui-table .state")).to_have_text("Sold out.")
