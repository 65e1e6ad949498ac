"""The person's page in a browser of theirs, beside an app of two bindings."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, FrameLocator, Page, expect

from e2e.approvals_page.conftest import Scheme, browser
from e2e.person_console.conftest import opened
from servers import running_server
from ui_mcp.ui.states import Running

__all__ = ["browser"]

LUA = """\
Tea = session:prototype("Tea", {cups = 1})

function Tea:pour()
  self.cups = self.cups + 1
end

if not session.reloading then tea = session:create(Tea) end
"""
VIEW = """\
<template>
  <main>
    <h1>Tea</h1>
    <p>Cups: <b id="cups" ui-value="cups"></b></p>
    <sl-button id="pour" ui-action="pour()">Pour</sl-button>
  </main>
</template>
"""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        app = running.workspace.apps / "tea"
        (app / "viewdefs").mkdir(parents=True)
        (app / "app.lua").write_text(LUA)
        (app / "viewdefs" / "Tea.DEFAULT.html").write_text(VIEW)
        await running.sessions.get("1").display("tea")
        yield running


async def at_tea(browser: Browser, server: Running, width: int = 1280, scheme: Scheme = "light") -> Page:
    """Open the person's page and wait for the app in it."""
    page = await opened(browser, server, width=width, scheme=scheme)
    if width < 800:
        await page.get_by_role("tab", name="App", exact=True).click()
    await expect(app_of(page).get_by_role("heading", name="Tea")).to_be_visible()
    return page


def app_of(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")
