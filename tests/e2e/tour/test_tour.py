"""The tour from its first word to the connection card: the whole product in one run, through the real server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from e2e.approvals_page.conftest import Scheme, browser, link
from e2e.person_console.conftest import accessible
from ui_mcp.app.commands.demo import demo_server
from ui_mcp.ui.states import Running

__all__ = ["browser"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    async with demo_server(tmp_path, tour=True, pace=0) as (_, (running, _mcp)):
        yield running


async def opened(browser: Browser, server: Running, width: int, scheme: Scheme) -> Page:
    context = await browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = await context.new_page()
    await page.goto(link(server.person_url))
    return page


async def answer(page: Page, currency: str, decision: str) -> None:
    await page.frame_locator("iframe").get_by_role("button", name=currency).click()
    await page.get_by_role("button", name="Go on without").click()
    await page.get_by_label("By bike").check()
    await page.get_by_role("button", name="Send", exact=True).click()
    await page.get_by_role("button", name=decision, exact=True).click()
    await expect(page.get_by_role("heading", name="Now with your own agent")).to_be_visible()


@pytest.mark.covers("UI-TOUR-1", "UI-TOUR-2", "UI-TOUR-3", "UI-TOUR-6")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_an_agent_builds_asks_operates_and_asks_for_approval(
    browser: Browser, server: Running, width: int, scheme: Scheme
) -> None:
    page = await opened(browser, server, width, scheme)
    await expect(page.get_by_text("Your turn: choose in the app")).to_be_visible()
    await accessible(page)

    await answer(page, "Euro", "Approve once")

    app = page.frame_locator("iframe")
    await expect(app.get_by_role("gridcell", name="12.40 €")).to_be_visible()
    feed = page.get_by_role("list", name="What the agent does")
    await expect(feed.get_by_text("You agreed, so order 1 is on its way, by bike.")).to_be_attached()
    await expect(feed.get_by_text("the total is 577.70 €")).to_be_attached()
    assert (server.workspace.apps / "trip" / "app.lua").is_file()
    await expect(feed.get_by_text("Every step is kept")).to_be_attached()
    await expect(app.get_by_role("complementary", name="History")).to_have_count(0)  # it was closed again
    await accessible(page)


@pytest.mark.covers("UI-TOUR-6")
async def test_the_person_points_at_the_title_and_the_agent_changes_it(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, 390, "light")
    app = page.frame_locator("iframe")
    await app.get_by_role("button", name="Euro").click()
    await expect(page.get_by_text("Your turn: point at the title")).to_be_visible()
    await accessible(page)

    await page.get_by_role("button", name="Point").click()
    await app.get_by_role("heading", name="Lisbon, five days").click()
    await page.get_by_label("What should change here?").fill("<b>Sun & sea</b>")
    await page.get_by_role("button", name="Send to agent").click()

    await expect(app.get_by_role("heading", name="<b>Sun & sea</b>")).to_be_visible(timeout=60_000)
    feed = page.get_by_role("list", name="What the agent does")
    await expect(feed.get_by_text("You pointed at the title")).to_be_visible()


@pytest.mark.covers("UI-TOUR-3", "UI-TOUR-4")
async def test_the_tour_is_played_again_and_takes_no_for_an_answer(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, 1280, "light")
    await answer(page, "Euro", "Approve once")

    await page.get_by_role("button", name="Play again").press("Enter")
    await answer(page, "Dollar", "Deny")

    feed = page.get_by_role("list", name="What the agent does")
    await expect(feed.get_by_text("You said no, so order 1 stays where it is.")).to_be_attached()
    rows = page.frame_locator("iframe").get_by_role("gridcell", name="12.40 $")
    await expect(rows).to_have_count(1)  # the app of the first run is gone


@pytest.mark.covers("UI-TOUR-4", "UI-TOUR-5")
async def test_the_tour_is_skipped_by_keyboard_and_ends_with_lines_to_copy(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, 1280, "light")
    await page.get_by_role("button", name="Skip", exact=True).press("Enter")
    card = page.get_by_role("region", name="Connect your own agent")

    await card.get_by_role("tab", name="Claude Code").press("ArrowRight")

    await expect(card.get_by_role("tab", name="Codex")).to_be_focused()
    line = f"codex mcp add ui --url http://127.0.0.1:{server.mcp_port}/mcp"
    await expect(card.get_by_role("tabpanel")).to_contain_text(line)
    await expect(card).to_contain_text("ui-mcp setup")
