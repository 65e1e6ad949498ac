"""The chat panel inside the shell, with the ui server and its agent as they really run."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from chromium import FLAGS, HEADLESS
from e2e.chat_page.conftest import chromium
from integration.lineclient import LineClient
from integration.nlui import nlui_demo
from integration.test_agent import agent
from ui_mcp.person import PersonKeys

pytestmark = pytest.mark.slow


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS, headless=HEADLESS)
        yield opened
        await opened.close()


async def person_page(browser: Browser, agent: LineClient) -> Page:
    """The page of the person, signed in."""
    page = await browser.new_page()
    await page.goto(f"{agent.call('ui_status')['person_url']}/#code={PersonKeys().new_code()}")
    return page


@pytest.mark.covers("CHAT-PANEL-1")
async def test_the_human_and_the_agent_talk_and_the_shell_shows_it_without_a_way_to_write(
    tmp_path: Path, browser: Browser
) -> None:
    with LineClient(cwd=tmp_path) as agent:
        page = await browser.new_page()
        await page.goto(agent.call("ui_start"))
        own = await person_page(browser, agent)
        await own.get_by_label("Message").fill("What can you do?")
        await own.keyboard.press("Enter")
        heard = agent.call("chat_wait_since", timeout_s=50)
        agent.call("chat_assistant_post", content="Almost **everything**.")

        assert [message["content"] for message in heard["messages"]] == ["What can you do?"]
        await expect(own.locator(".chat-assistant strong")).to_have_text("everything")
        await expect(own.get_by_label("Read by the agent")).to_be_visible()

        await page.get_by_role("button", name="Chat", exact=True).click()
        panel = page.get_by_role("complementary", name="Chat with your agent")
        await expect(panel.locator(".chat-assistant strong")).to_have_text("everything")
        await expect(panel.locator("textarea, input, form")).to_have_count(0)
        elsewhere = panel.get_by_role("link", name="Write or decide")
        await expect(elsewhere).to_be_focused()
        await expect(elsewhere).to_have_attribute("rel", "noopener")
        async with page.context.expect_page() as tab:
            await elsewhere.click()
        await expect((await tab.value).get_by_label("Code")).to_be_visible()

        await page.bring_to_front()
        await elsewhere.focus()
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        await expect(page.get_by_role("button", name="Chat", exact=True)).to_be_focused()
        await page.keyboard.press("Alt+c")
        await expect(panel.locator(".chat-message")).to_have_count(2)


@pytest.mark.covers("CHAT-PANEL-1")
async def test_nothing_on_the_app_origin_posts_as_the_human(tmp_path: Path, browser: Browser) -> None:
    with LineClient(cwd=tmp_path) as agent:
        page = await browser.new_page()
        await page.goto(agent.call("ui_start"))
        statuses = await page.evaluate(
            """async (paths) => Promise.all(paths.map(async (path) => (await fetch(path,
                {method: "POST", headers: {"content-type": "application/json"}, body: "{}"})).status))""",
            ["/chat/messages", "/approvals/x/decision", "/approvals/decisions", "/approvals/proposals/x"],
        )
        messages = agent.call("chat_read_since")["messages"]

    assert all(status in (404, 405) for status in statuses), statuses
    assert messages == []


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
            shell = await browser.new_page()
            await shell.goto(server.call("ui_start"))
            page = await person_page(browser, server)
            await page.get_by_label("Message").fill("list them")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("table")).to_contain_text("Ada Lovelace")
            await expect(page.locator(".chat-assistant")).to_contain_text("Done.")

            await page.get_by_label("Message").fill("ship it")
            await page.keyboard.press("Enter")
            await shell.get_by_role("button", name="Chat", exact=True).click()
            panel = shell.get_by_role("complementary", name="Chat with your agent")
            question = panel.get_by_role("listitem", name="Approval of Ship order")
            await expect(question).to_contain_text("Waiting for your answer")
            await expect(question.get_by_role("button")).to_have_count(0)
            await page.get_by_role("button", name="Review").click()
            await page.get_by_role("button", name="Approve once").click()
            await page.get_by_role("tab", name="Chat").click()

            shown = [
                *("chat-message chat-user", "chat-activity nlui", "chat-message chat-assistant"),
                *("chat-message chat-user", "chat-activity nlui", "chat-message chat-assistant"),
            ]
            for place in (page.locator("#view-chat"), panel):
                await expect(place.locator(".chat-assistant")).to_have_count(2)
                await expect(place.locator("dl.nlui-card")).to_contain_text("Espresso machine")
                await expect(place.locator(".chat-messages > li")).to_have_class(shown)
            await page.close()
            await shell.close()
