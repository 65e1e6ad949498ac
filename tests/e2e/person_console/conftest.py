"""The person's page with a project of several apps."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from chromium import SETTLED
from e2e.approvals_page.conftest import Scheme, browser, link
from e2e.nlui_chat.conftest import AXE
from servers import running_server
from ui_mcp.ui.console.scaffold import plan, scaffold
from ui_mcp.ui.states import Running

__all__ = ["browser"]

TESTING = """# Testing
- [x] Adds an item
- [ ] Keeps the order
## Known Issues
### Long names overflow
"""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        scaffold(running.workspace, "week-plan")
        (running.workspace.apps / "week-plan" / "TESTING.md").write_text(TESTING)
        plan(running.workspace, "shopping", "A list of things to buy.")
        yield running


async def opened(
    browser: Browser, server: Running, path: str = "", width: int = 1280, scheme: Scheme = "light"
) -> Page:
    """Open the page of a person who has signed in, at an address of it."""
    context = await browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = await context.new_page()
    await page.goto(link(server.person_url))
    await expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_visible()
    if path:
        await page.goto(server.person_url + path)
    return page


async def accessible(page: Page) -> None:
    """Fail on anything axe calls serious; the frame of the app has tests of its own."""
    await page.evaluate(SETTLED)
    await page.evaluate(f"{AXE.read_text()};0")
    found = await page.evaluate(
        """async () => (await axe.run({ exclude: ['iframe'] }, { resultTypes: ['violations'] })).violations
            .filter((one) => ['serious', 'critical', 'moderate'].includes(one.impact))
            .map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 160))])"""
    )
    assert found == []
