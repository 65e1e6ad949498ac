"""The chat with APIs of `nlui`, and the chat that is served alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio import to_thread
from playwright.async_api import Browser, expect

from e2e.chat_page.conftest import chat_server
from e2e.chat_page.conftest import link as chat_link
from e2e.every_page.conftest import Look, new_page
from integration.nlui import nlui_demo
from person_client import let_in
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.covers("UI-PAGE-14")]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[str]:
    with nlui_demo(tmp_path) as url:
        yield url


async def test_nlui_empty_and_with_a_result_and_an_approval(browser: Browser, demo: str, look: Look) -> None:
    page = await new_page(browser, demo)
    await look.at(page, "nlui-sign-in")
    credential = (await to_thread.run_sync(let_in, demo))["x-ui-person"]
    await page.context.add_init_script(f"localStorage.setItem('ui-person', '{credential}')")
    await page.reload()
    await expect(page.get_by_role("button", name="Show the orders")).to_be_visible()
    await look.at(page, "nlui-empty")
    await page.get_by_role("button", name="Show the orders").click()
    await expect(page.get_by_role("table")).to_contain_text("Ada Lovelace")
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await page.get_by_label("Message", exact=True).fill("ship order 1")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    await look.at(page, "nlui")

    assert look.findings() == ""


async def test_the_chat_alone(browser: Browser, tmp_path: Path, look: Look) -> None:
    async with chat_server(tmp_path) as (chat, url):
        page = await new_page(browser, chat_link(url))
        await expect(page.get_by_text("No messages yet")).to_be_visible()
        await look.at(page, "chat-empty")
        await chat.post(principal("human", "human"), "user", "default", [Draft("Deploy **now**?")])
        await chat.post(principal("agent", "agent"), "assistant", "default", [Draft("Deploying:\n\n- `build`")])
        await expect(page.locator(".chat-message")).to_have_count(2)
        await look.at(page, "chat")

    assert look.findings() == ""
