"""The chat panel inside the shell, with the ui server and its agent as they really run."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright, expect

from e2e.chat_page.conftest import FLAGS, chromium
from interaction.lineclient import LineClient

pytestmark = pytest.mark.slow


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield opened
        await opened.close()


@pytest.mark.covers("CHAT-PANEL-1")
async def test_the_human_and_the_agent_talk_in_the_shell(tmp_path: Path, browser: Browser) -> None:
    with LineClient(cwd=tmp_path) as agent:
        page = await browser.new_page()
        await page.goto(agent.call("ui_start"))
        await page.get_by_role("button", name="Chat", exact=True).click()
        panel = page.get_by_role("complementary", name="Chat with your agent")
        await expect(panel.get_by_label("Message")).to_be_focused()

        await page.keyboard.type("What can you do?")
        await page.keyboard.press("Enter")
        heard = agent.call("chat_wait_since", timeout_s=20)
        agent.call("chat_assistant_post", content="Almost **everything**.")

        assert [message["content"] for message in heard["messages"]] == ["What can you do?"]
        await expect(panel.locator(".chat-assistant strong")).to_have_text("everything")
        await expect(panel.get_by_label("Read by the agent")).to_be_visible()

        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        await expect(page.get_by_role("button", name="Chat", exact=True)).to_be_focused()
        await page.keyboard.press("Alt+c")
        await expect(panel.locator(".chat-message")).to_have_count(2)
