"""Much of everything: memory comes back, nothing is lost, nothing piles up."""

from pathlib import Path

import pytest
from anyio import create_task_group
from anyio.lowlevel import checkpoint

from ui_mcp.testing.browser import open_page
from ui_mcp.testing.project import open_app
from ui_mcp.ui.sessions.session import Session

EXAMPLES = Path(__file__).parents[3] / "examples"
FIXTURES = Path(__file__).parents[3] / "tests" / "examples" / "fixtures"

pytestmark = pytest.mark.slow


async def kilobytes(session: Session) -> float:
    return float(await session.run_lua("collectgarbage() collectgarbage() return collectgarbage('count')"))


@pytest.mark.covers("UI-PERF-6", "UI-ROB-4")
async def test_pages_that_come_and_go_leave_no_memory_behind(tmp_path: Path) -> None:
    async with open_app(FIXTURES / "thousand-rows", tmp_path) as (session, browser):
        for _ in range(3):
            async with open_page(session):
                pass
        before = await kilobytes(session)
        for _ in range(20):
            async with open_page(session) as other:
                await other.click("star()", other.rows("rows")[7])
                browser.catch_up()

        assert await kilobytes(session) < before * 1.2
        assert (len(session.pages), browser.rows("rows")[7].value("shown()")) == (1, "★" * 5)


@pytest.mark.covers("UI-PERF-6")
async def test_a_value_of_five_megabytes_comes_and_goes(tmp_path: Path) -> None:
    async with open_app(FIXTURES / "adder", tmp_path) as (session, browser):
        before = await kilobytes(session)
        await session.run_lua("adder.first = string.rep('ü', 2500000)")
        browser.catch_up()
        assert browser.value("first") == "ü" * 2_500_000
        await browser.type("second", "x" * 5_000_000)
        assert await session.run_lua("return #adder.second") == "5000000"
        await session.run_lua("adder.first, adder.second = 1, 2")
        browser.catch_up()

        assert browser.value("sum()") == 3
        while session.unsaved:  # the journal still knows the old values
            await checkpoint()
        assert await kilobytes(session) < before * 1.2


@pytest.mark.covers("UI-PERF-6", "UI-WAIT-6")
async def test_thousands_of_clicks_from_four_tabs_are_all_counted(tmp_path: Path) -> None:
    async with open_app(EXAMPLES / "contacts", tmp_path) as (session, _):
        await session.run_lua("clicks = 0 function Contacts:add() clicks = clicks + 1 mcp.pushState({n = clicks}) end")

        async def clicking() -> None:
            async with open_page(session) as browser:
                for _ in range(500):
                    await browser.click("add()")

        async with create_task_group() as group:
            for start in [clicking] * 4:
                group.start_soon(start)

        assert await session.run_lua("return clicks") == "2000"
        assert [event["n"] for event in session.events.peek()] == list(range(1, 2001))
