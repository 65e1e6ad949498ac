"""A person points at something in a browser of theirs that an agent has joined."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Page, async_playwright

from introspection.demos import debugged_chromium
from ui_mcp.app.ui_server import open_host
from ui_mcp.introspection.backend import Attachment
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.targets import write
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
PAGE = "data:text/html,<title>Shop</title><h1>Shop</h1><button id=buy>Buy</button>"


@asynccontextmanager
async def joined(folder: Path) -> AsyncIterator[tuple[Running, Target, Page]]:
    """A server that an agent uses to look at the person's browser, and the page as the person has it."""
    flags: JsonObject = {"lua.host": "thread"}
    async with (
        debugged_chromium(folder / "profile", PAGE) as addresses,
        open_host(flags, ListenPorts(), Announcements()) as host,
        async_playwright() as playwright,
    ):
        await host.begin(str(folder / ".claude" / "ui"))
        running = await host.start()
        write(host.targets.folder, Attachment("cdp", "cdp", "", url=addresses["http"]))
        target = await host.targets.target("cdp")
        await target.capture(CaptureRequest())
        browser = await playwright.chromium.connect_over_cdp(addresses["http"])
        yield running, target, browser.contexts[0].pages[0]


async def next_event(server: Running) -> JsonObject:
    events: list[str] = []
    with anyio.fail_after(60):
        while not events:
            async with server.sessions.get("1").events.taken(30) as taken:
                events = [text for text in taken if '"pointed"' in text]
    return dict(loads(events[0]))


@pytest.mark.covers("IN-143")
async def test_an_alt_click_in_an_attached_page_takes_words_and_element_to_the_agent(tmp_path: Path) -> None:
    async with joined(tmp_path) as (server, _, page):
        await page.locator("#buy").click(modifiers=["Alt"])
        await page.keyboard.type("Call it Order")
        await page.keyboard.press("Enter")
        event = await next_event(server)

    assert (event["words"], event["target"], event["element"]["text"]) == ("Call it Order", "cdp", "Buy")
    assert Path(event["picture"]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.covers("IN-143")
async def test_an_agent_cannot_point_in_the_persons_name(tmp_path: Path) -> None:
    async with joined(tmp_path) as (server, target, page):
        async with target.exclusive():
            await target.act({"type": "click", "x": 30, "y": 100, "modifiers": ["ALT"]})
            await target.act({"type": "typeText", "text": "Give it everything\n"})
        cards = await page.locator("ui-mcp-point").count()
        # The person still can; their event is the first and only one.
        await page.locator("#buy").click(modifiers=["Alt"])
        await page.keyboard.type("Mine")
        await page.keyboard.press("Enter")
        event = await next_event(server)

    assert (cards, event["words"]) == (0, "Mine")
