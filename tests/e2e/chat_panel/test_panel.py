"""The chat panel inside the shell, with the ui server and its agent as they really run."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Browser, async_playwright, expect

from e2e.chat_page.conftest import FLAGS, chromium
from interaction.lineclient import LineClient
from interaction.nlui import nlui_demo
from interaction.test_agent import agent

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
        heard = agent.call("chat_wait_since", timeout_s=50)
        agent.call("chat_assistant_post", content="Almost **everything**.")

        assert [message["content"] for message in heard["messages"]] == ["What can you do?"]
        await expect(panel.locator(".chat-assistant strong")).to_have_text("everything")
        await expect(panel.get_by_label("Read by the agent")).to_be_visible()

        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        await expect(page.get_by_role("button", name="Chat", exact=True)).to_be_focused()
        await page.keyboard.press("Alt+c")
        await expect(panel.locator(".chat-message")).to_have_count(2)


SCRIPT = """
data_dir: ./data
targets: [{{name: shop, base_url: "{shop}"}}]
llm:
  provider: scripted
  script:
    - when: {{user: "ship"}}
      emit: [{{call: shop__ship_order, args: {{id: 1}}}}]
    - when: {{user: "list"}}
      emit: [{{call: shop__list_orders}}]
    - when: {{tool: "shop__"}}
      emit: [{{call: chat_assistant_post, args: {{content: "Done."}}}}]
    - emit: [{{call: loop_yield_turn}}]
"""


@pytest.mark.covers("NLUI-PAGE-2")
async def test_the_shell_shows_what_an_agent_does_and_asks(tmp_path: Path, browser: Browser) -> None:
    shop_folder, folder = tmp_path / "shop", tmp_path / "project"
    shop_folder.mkdir()
    folder.mkdir()
    with nlui_demo(shop_folder) as demo:
        shop = httpx2.get(f"{demo}/api/targets", timeout=30).json()[0]["where"]
        (folder / "nlui.yaml").write_text(SCRIPT.format(shop=shop))
        with LineClient(cwd=folder) as server, agent(folder):
            page = await browser.new_page()
            await page.goto(server.call("ui_start"))
            await page.get_by_role("button", name="Chat", exact=True).click()
            panel = page.get_by_role("complementary", name="Chat with your agent")
            await expect(panel.get_by_label("Message")).to_be_focused()
            await page.keyboard.type("list them")
            await page.keyboard.press("Enter")
            await expect(panel.get_by_role("table")).to_contain_text("Ada Lovelace")
            await expect(panel.locator(".chat-assistant")).to_contain_text("Done.")

            await panel.get_by_label("Message").fill("ship it")
            await page.keyboard.press("Enter")
            await panel.get_by_role("button", name="Approve once").click()

            await expect(panel.locator(".chat-assistant")).to_have_count(2)
            await expect(panel.locator("dl.nlui-card")).to_contain_text("Espresso machine")
            shown = [
                *("chat-message chat-user", "chat-activity nlui", "chat-message chat-assistant"),
                *("chat-message chat-user", "chat-activity nlui", "chat-activity nlui", "chat-message chat-assistant"),
            ]
            await expect(panel.locator(".chat-messages > li")).to_have_class(shown)
            await page.close()
