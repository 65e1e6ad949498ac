from pathlib import Path

import pytest

from ui_mcp.testing.browser import open_page
from ui_mcp.testing.project import open_app
from ui_mcp.testing.view import NotShownError

FIXTURES = Path(__file__).parents[2] / "tests" / "examples" / "fixtures"
WINDOWED = (
    '<template><div><sl-button ui-action="drop()">x</sl-button>'
    '<div ui-viewlist="rows?window=20"><div></div></div></div></template>'
)


async def test_a_windowed_list_holds_only_the_rows_asked_for(tmp_path: Path) -> None:
    async with open_app(FIXTURES / "thousand-rows", tmp_path) as (session, _):
        folder = tmp_path / ".claude" / "ui" / "apps" / "thousand-rows" / "viewdefs"
        (folder / "ThousandRows.DEFAULT.html").write_text(WINDOWED)
        async with open_page(session) as browser:
            await browser.until(
                lambda: "ui-viewlist" in str(browser.app.template.bindings) and len(browser.rows("rows")) <= 20
            )
            assert browser.rows("rows")[0].value("name") == "Row 1"

            await browser.scroll("rows", 500, 20)
            assert [row.value("name") for row in browser.rows("rows")] == [f"Row {n}" for n in range(501, 521)]
            assert browser.app.values[browser.app.binding("rows").position]["length"] == 1000

            await browser.click("star()", browser.rows("rows")[3])
            assert browser.rows("rows")[3].value("shown()") == "★"
            await browser.click("drop()")
            assert [row.value("name") for row in browser.rows("rows")] == [f"Row {n}" for n in range(502, 522)]


async def test_a_page_without_expansion_speaks_the_plain_messages(tmp_path: Path) -> None:
    async with open_app(FIXTURES / "adder", tmp_path) as (session, _), open_page(session, expand=False) as page:
        await page.send({"type": "watch", "data": {"varId": 1}}, user=False)
        await page.send(
            {"type": "create", "data": {"id": 2, "parentId": 1, "properties": {"path": "value.first"}}},
            {"type": "create", "data": {"id": 3, "parentId": 1, "properties": {"path": "value.sum()?access=r"}}},
            {"type": "create", "data": {"id": 4, "parentId": 1, "properties": {"path": "value.swap()?access=action"}}},
        )
        assert (page.page.variables[2]["value"], page.page.variables[3]["value"]) == (2, 5)

        await page.send({"type": "update", "data": {"varId": 2, "value": 10}})
        assert page.page.variables[3]["value"] == 13
        await page.send({"type": "update", "data": {"varId": 4, "value": None}})
        assert page.page.variables[2]["value"] == 3


async def test_what_is_not_on_the_page_is_said_with_what_is(tmp_path: Path) -> None:
    async with open_app(FIXTURES / "adder", tmp_path) as (_, browser):
        with pytest.raises(NotShownError, match="Nothing on the page is bound to 'nope'; it reads: '2 3 Sum: 5"):
            browser.value("nope")
