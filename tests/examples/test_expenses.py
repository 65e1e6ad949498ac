from pathlib import Path

from ui_mcp.testing.project import OpenApp, open_app

from .conftest import EXAMPLES

APP = "expenses"


async def test_an_expense_is_checked_added_and_charted(app: OpenApp) -> None:
    session, browser = app
    await browser.click("add()")
    assert "What did you pay for?" in browser.text

    await browser.type("item", "Coffee")
    await browser.type("amount", "0")
    await browser.click("add()")
    assert "An amount is more than 0." in browser.text

    await browser.type("date", "2026-04-01")
    await browser.type("amount", "3.5")
    await browser.click("add()")
    assert await session.run_lua("local m = expenses:months() return {#expenses.list, m[#m].month, m[#m].Food}") == (
        '[7,"2026-04",3.5]'
    )
    assert browser.page.errors == []


UPLOAD = """
local path = mcp:status().base_dir .. "/storage/upload.csv"
local file = io.open(path, "w")
file:write(%s)
file:close()
expenses:arrived({ path = path })
"""


async def test_csv_comes_in_and_nonsense_is_refused(app: OpenApp) -> None:
    session, browser = app
    await session.run_lua(UPLOAD % '"date,item,category,amount\\n2026-05-01,Tent,Travel,120\\n"')
    browser.catch_up()
    assert "1 expenses added." in browser.text
    assert await session.run_lua("return expenses.list[7].item") == '"Tent"'

    await session.run_lua(UPLOAD % '"date,item,category,amount\\n2026-05-01,Tent,Travel,much\\n"')
    browser.catch_up()
    assert "0 expenses added, 1 left out." in browser.text

    await session.run_lua(UPLOAD % "'\"never closed'")
    browser.catch_up()
    assert "1 expenses added." not in browser.text
    assert await session.run_lua("return #expenses.list") == "7"


async def test_what_was_removed_stays_removed(tmp_path: Path) -> None:
    async with open_app(EXAMPLES / APP, tmp_path) as (session, _):
        await session.run_lua("expenses:remove(expenses.list[1])")

    async with open_app(EXAMPLES / APP, tmp_path) as (session, _):
        assert await session.run_lua("return {#expenses.list, expenses.list[1].item}") == '[5,"Groceries"]'


def test_it_has_at_most_sixty_lines() -> None:
    files = [EXAMPLES / APP / "app.lua", *(EXAMPLES / APP / "viewdefs").glob("*.html")]
    assert sum(len(file.read_text().splitlines()) for file in files) <= 60
