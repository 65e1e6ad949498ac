"""The page of accounts in a real browser: signing in through another origin, signing out, errors, narrow and dark."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Browser, expect

from e2e.approvals_page.conftest import Scheme, browser, link
from e2e.person_console.conftest import accessible
from gateway.gateways import gateway
from oauth.authorization_server import FakeServer, fake_server
from ui_mcp.default_browser import BrowserError
from ui_mcp.gateway.listeners import serve_approvals
from ui_mcp.oauth import account, store

__all__ = ["browser"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeServer]:
    def no_browser(url: str) -> None:
        raise BrowserError("there is no display")

    monkeypatch.setattr(account, "open_default_browser", no_browser)
    monkeypatch.setattr(store, "state_folder", lambda: tmp_path / "state")
    async with fake_server() as found:
        yield found


@asynccontextmanager
async def page_of(folder: Path, server: FakeServer) -> AsyncIterator[str]:
    servers = [{"name": "files", "url": f"{server.base}/api", "auth": {"scopes": ["read"]}}]
    async with gateway(folder, mcp={"servers": servers}, ready=False) as found, anyio.create_task_group() as tasks:
        urls: list[str] = []
        ready = anyio.Event()

        def opened(url: str) -> None:
            urls.append(url)
            ready.set()

        tasks.start_soon(serve_approvals, found, opened)
        await ready.wait()
        yield urls[0]
        tasks.cancel_scope.cancel()


@pytest.mark.covers("GW-SIGN-6")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_a_person_signs_in_and_out_on_the_page(
    browser: Browser, server: FakeServer, tmp_path: Path, width: int, scheme: Scheme
) -> None:
    async with page_of(tmp_path, server) as url:
        context = await browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page = await context.new_page()
        await page.goto(link(url))
        await expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_visible()
        await page.goto(f"{url}/sign-ins")
        await expect(page.get_by_text("signed out")).to_be_visible()
        await page.screenshot(path=tmp_path / f"out-{scheme}.png")
        await page.get_by_role("button", name="Sign in to files", exact=True).click()
        host = server.base.removeprefix("http://")
        async with context.expect_page() as other:
            await page.get_by_role("link", name=f"Continue at {host}").click()
        await expect((await other.value).get_by_text("You can close this page")).to_be_visible()
        await expect(page.get_by_text("signed in since")).to_be_visible()
        await accessible(page)
        await page.screenshot(path=tmp_path / f"in-{scheme}.png")
        await page.get_by_role("button", name="Sign out of files").click()
        await expect(page.get_by_text("signed out")).to_be_visible()
        server.metadata = None
        await page.get_by_role("button", name="Sign in to files", exact=True).click()
        await expect(page.get_by_text("has no metadata")).to_be_visible()
        await page.screenshot(path=tmp_path / f"error-{scheme}.png")
        await context.close()
