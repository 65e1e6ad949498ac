"""The pages of the person: sign-in, chat, inbox, apps, settings, console, phones, accounts."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from e2e.approvals_page.conftest import ask, link
from e2e.approvals_page.test_accounts import page_of
from e2e.approvals_page.test_accounts import server as sign_in_server
from e2e.approvals_page.test_inbox import form, permission, place
from e2e.every_page.conftest import Look, Product, new_page
from oauth.authorization_server import FakeServer
from phone_client import AGENT
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.inbox.phone.devices import Devices
from ui_mcp.inbox.service import Reply
from ui_mcp.inbox.service import opened as opened_inbox
from ui_mcp.toolkit.tool import Call

__all__ = ["sign_in_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.covers("UI-PAGE-14")]


COVERED = """() => [...document.querySelectorAll(".ask-top")].filter((top) => {
    const [words, badge] = [".ask-says", ".ask-risk"].map((one) => top.querySelector(one)?.getBoundingClientRect());
    return words && badge && words.right > badge.left && words.bottom > badge.top;
}).length"""


async def signed_in(browser: Browser, url: str, path: str = "") -> Page:
    page = await new_page(browser, link(url))
    await expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_visible()
    if path:
        await page.goto(url + path)
    return page


async def test_the_sign_in_and_the_chat(browser: Browser, product: Product, look: Look) -> None:
    url = product.running.person_url
    page = await new_page(browser, url)
    await expect(page.get_by_label("Code")).to_be_focused()
    await look.at(page, "sign-in")
    page = await signed_in(browser, url)
    await expect(page.get_by_text("No messages yet")).to_be_visible()
    await look.at(page, "person-welcome")
    if await (later := page.get_by_role("button", name="Not now")).count():
        await later.click()
    await page.get_by_label("Message").fill("Which orders are late?")
    await page.keyboard.press("Enter")
    await product.call("chat_assistant_post", content="Two: **4711** and **4712**.\n\n```sql\nselect 1\n```")
    await expect(page.get_by_text("4711")).to_be_visible()
    await look.at(page, "person-chat")

    assert look.findings() == ""


async def test_the_inbox_empty_filled_and_answered(browser: Browser, product: Product, look: Look) -> None:
    found = product.gateway
    page = await signed_in(browser, product.running.person_url, "/inbox")
    await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()
    await look.at(page, "inbox-empty")
    async with opened_inbox(place(product.running)) as inbox:
        await ask(found, "boat")
        await found.enforcer.call("shop__deleteThing", {"id": 7}, Call(client_name="Claude"))
        rule = {"source": "shop", "tool": "addThing", "args": {"body.name": "boat*"}, "decision": "allow"}
        await GatewayToolset(found).call("policy__propose", {"rule": rule, "rationale": "Boats are safe"}, Call())
        await form(inbox)
        wanted = await permission(inbox)
        await expect(page.get_by_role("article")).to_have_count(5)
        await look.at(page, "inbox")
        assert await page.evaluate(COVERED) == 0  # on a phone
        await inbox.answer(wanted.id, Reply("deny", "human"))
        await expect(page.get_by_role("article")).to_have_count(4)
    await page.get_by_text("Answered", exact=False).first.click()
    await look.at(page, "inbox-answered")

    assert look.findings() == ""


async def test_apps_settings_and_console(browser: Browser, product: Product, look: Look) -> None:
    page = await signed_in(browser, product.running.person_url, "/apps")
    await page.get_by_role("button", name="Contacts").click()
    await expect(page.get_by_role("article", name="Contacts")).to_be_visible()
    await look.at(page, "apps")
    await page.goto(f"{product.running.person_url}/settings")
    await expect(page.get_by_role("heading", name="Appearance")).to_be_visible()
    await look.at(page, "settings")
    await page.goto(f"{product.running.person_url}/console")
    line = page.get_by_label("Lua", exact=True)
    for code in ("return 6 * 7", "nope.x"):
        await line.fill(code)
        await line.press("Enter")
    await expect(page.locator(".lua-error")).to_be_visible()
    await look.at(page, "console")

    assert look.findings() == ""


async def test_the_pairing_of_a_phone(browser: Browser, product: Product, look: Look) -> None:
    page = await signed_in(browser, product.running.person_url, "/inbox")
    await page.get_by_text("Phones", exact=True).click()
    await page.get_by_role("button", name="Pair a phone").click()
    await expect(page.get_by_role("img", name="QR code that pairs a phone")).to_be_visible()
    await look.at(page, "phone")
    Devices().exchange(await page.locator(".phone-code").inner_text(), product.running.config.phone.origin, AGENT)
    await expect(page.get_by_text("Paired: Chrome on Android.")).to_be_visible()
    await look.at(page, "phone-paired")

    assert look.findings() == ""


async def test_the_accounts(browser: Browser, sign_in_server: FakeServer, tmp_path: Path, look: Look) -> None:
    async with page_of(tmp_path, sign_in_server) as url:
        page = await signed_in(browser, url, "/sign-ins")
        await expect(page.get_by_text("signed out")).to_be_visible()
        await look.at(page, "accounts")

    assert look.findings() == ""
