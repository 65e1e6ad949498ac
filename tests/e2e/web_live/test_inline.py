"""Rows and conditions written in place, in a real browser: tables stay tables, and what was typed stays typed."""

import pytest
from playwright.sync_api import Page, expect

from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow

APP = """
Shop = session:prototype("Shop", { title = "Shop", items = EMPTY, note = "" })
function Shop:add() self.items[#self.items + 1] = { name = "item " .. #self.items + 1, price = 2 * #self.items + 1 } end
function Shop:remove(name)
    for at, item in ipairs(self.items) do
        if item.name == name then table.remove(self.items, at) return end
    end
end
function Shop:count() return #self.items end
if not session.reloading then shop = Shop:new() shop.items = {} shop:add() shop:add() end
"""
VIEW = """<template><main>
  <h1 ui-value="title"></h1>
  <table>
    <thead><tr><th>Name</th><th>Price</th><th>Do</th></tr></thead>
    <tbody ui-for="items">
      <tr><td><input ui-value="name" aria-label="Name"></td><td><output ui-value="price"></output></td>
      <td><button type="button" ui-action="..remove(name)">Remove</button></td></tr>
    </tbody>
  </table>
  <form ui-if="count() == 0"><label>Why? <input id="why" ui-value="note"></label></form>
  <button id="add" type="button" ui-action="add()">Add</button>
</main></template>"""


@pytest.mark.covers("UI-VIEW-20")
def test_rows_in_place_keep_the_table_and_conditions_come_and_go(server: Server, page: Page) -> None:
    folder = server.base / "apps" / "shop"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(APP)
    (folder / "viewdefs" / "Shop.DEFAULT.html").write_text(VIEW)
    server.call("ui_display", name="shop")
    page.goto(server.url)
    expect(page.locator("table > tbody > tr")).to_have_count(2)
    expect(page.locator("tbody td:nth-child(2)")).to_have_text(["1", "3"])
    expect(page.locator("main form")).to_be_hidden()
    accessible(page)

    page.locator("#add").click()
    expect(page.locator("table > tbody > tr")).to_have_count(3)
    page.locator("tbody input").first.fill("pear")
    page.locator("tbody input").first.blur()
    page.get_by_role("button", name="Remove").nth(1).click()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert server.call("ui_run", code="return shop.items[1].name .. shop.items[2].name") == "pearitem 3"

    for _ in range(2):
        page.get_by_role("button", name="Remove").first.click()
    expect(page.locator("#why")).to_be_visible()
    page.locator("#why").fill("sold out")
    page.locator("#why").blur()
    (folder / "viewdefs" / "Shop.DEFAULT.html").write_text(
        VIEW.replace("Why?", "Why is it empty?").replace("<td><output", "<td>€ <output")
    )
    expect(page.get_by_label("Why is it empty?")).to_have_value("sold out")
    page.locator("#add").click()
    expect(page.locator("tbody td:nth-child(2)")).to_have_text(["€ 1"])
    expect(page.locator("main form")).to_be_hidden()
    assert server.call("ui_audit", name="shop")["violations"] == []


LIST_APP = """
Lists = session:prototype("Lists", { rows = EMPTY })
Lists.Row = session:prototype("Lists.Row", { name = "" })
if not session.reloading then
    lists = Lists:new()
    lists.rows = { Lists.Row:new({ name = "pear" }), Lists.Row:new({ name = "plum" }) }
end
"""
LISTS = {
    "tbody": ("<table><thead><tr><th>Name</th></tr></thead><tbody {}></tbody></table>", "tr", "td"),
    "ul": ("<ul {}></ul>", "li", "span"),
}


@pytest.mark.covers("UI-VIEW-20")
@pytest.mark.parametrize("attribute", ['ui-view="rows?wrapper=lua.ViewList"', 'ui-viewlist="rows"'])
@pytest.mark.parametrize("tag", LISTS)
def test_each_way_to_write_a_list_keeps_the_element_that_holds_it(
    server: Server, page: Page, tag: str, attribute: str
) -> None:
    whole, row, cell = LISTS[tag]
    folder = server.base / "apps" / "lists"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(LIST_APP)
    (folder / "viewdefs" / "Lists.DEFAULT.html").write_text(
        f"<template><main>{whole.format(attribute)}</main></template>"
    )
    (folder / "viewdefs" / "Lists.Row.list-item.html").write_text(
        f'<template><{row}><{cell} ui-value="name"></{cell}></{row}></template>'
    )
    server.call("ui_display", name="lists")
    page.goto(server.url)
    expect(page.locator(f"main {tag} > {row} > {cell}")).to_have_text(["pear", "plum"])
    server.call("ui_run", code="table.remove(lists.rows, 1) lists.rows[2] = Lists.Row:new({ name = 'fig' })")
    expect(page.locator(f"main {tag} > {row} > {cell}")).to_have_text(["plum", "fig"])
