"""The pages around apps: start page, menu, panels, errors of apps, and pages that stand in place of an app."""

import pytest
from playwright.async_api import Browser, WebSocketRoute, expect

from e2e.every_page.conftest import Look, Product, new_page
from e2e.web_live.test_problems import HTML, LUA

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.covers("UI-PAGE-14")]


COVERED = """() => document.querySelector(".ui-banner").getBoundingClientRect().bottom
    - document.querySelector(".shell-main").getBoundingClientRect().top"""


async def test_the_start_page_its_menu_and_the_card_that_connects_an_agent(
    browser: Browser, product: Product, look: Look
) -> None:
    page = await new_page(browser, product.running.url)
    await expect(page.locator(".shell-tile")).to_have_count(4)
    await expect(page.locator(".shell-landing .shell-copy")).to_be_attached()
    await look.at(page, "start")
    await page.keyboard.press("Control+k")
    await expect(page.get_by_label("Find an app")).to_be_focused()
    await look.at(page, "start-menu")
    await page.keyboard.press("Escape")
    await page.locator(".shell-agent").click()
    await expect(page.locator(".shell-dialog .shell-copy")).to_be_visible()
    await look.at(page, "start-connect")

    assert look.findings() == ""


async def test_an_app_with_its_chat_its_history_and_its_variables(
    browser: Browser, product: Product, look: Look
) -> None:
    await product.call("chat_assistant_post", content="I built **Contacts**. Shall I add a `birthday` field?")
    page = await new_page(browser, f"{product.running.url}/app/contacts")
    await expect(page.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    await look.at(page, "app")
    await page.get_by_role("button", name="Ada Lovelace").click()
    await expect(page.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
    await look.at(page, "app-details")
    await page.keyboard.press("Alt+c")
    await expect(page.get_by_text("I built Contacts")).to_be_visible()
    await look.at(page, "chat-panel")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Alt+h")
    await expect(page.locator(".ui-history-label").first).to_be_visible()
    await look.at(page, "history")
    variables = await page.context.new_page()
    await variables.goto(f"{product.running.url}/variables")
    await expect(variables.locator(".line").first).to_be_visible()
    await look.at(variables, "variables")

    assert look.findings() == ""


async def test_the_errors_of_an_app(browser: Browser, product: Product, look: Look) -> None:
    folder = product.running.workspace.apps / "trouble"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(LUA)
    (folder / "viewdefs" / "Trouble.DEFAULT.html").write_text(HTML.replace("<div>", "<div><h1>Trouble</h1>", 1))
    page = await new_page(browser, f"{product.running.url}/app/trouble")
    await page.locator("#go").click()
    await expect(page.locator(".ui-error-tip")).to_contain_text("boom")
    await look.at(page, "error-tip")
    await page.locator(".ui-problems-open").click()
    await expect(page.locator(".ui-problems-list")).to_contain_text("boom")
    await look.at(page, "error-panel")

    assert look.findings() == ""


async def test_a_page_that_does_not_exist_and_one_that_is_open_already(
    browser: Browser, product: Product, look: Look
) -> None:
    page = await new_page(browser, f"{product.running.url}/nothing/here")
    await look.at(page, "not-found")
    await page.goto(f"{product.running.url}/app/nothing")
    await expect(page.get_by_text("nothing").first).to_be_visible()
    await expect(page.locator(".shell-tile").first).to_be_visible()  # its entry is waited for from here on
    await look.at(page, "no-such-app")
    await page.goto(f"{product.running.url}/?conserve=true")
    await expect(page.locator(".shell-tile").first).to_be_visible()
    second = await page.context.new_page()
    await second.goto(f"{product.running.url}/?conserve=true")
    await expect(second.get_by_role("heading", name="Session is already open")).to_be_visible()
    await look.at(second, "open-elsewhere")

    assert look.findings() == ""


async def test_a_server_that_cannot_be_reached_and_a_session_that_has_ended(
    browser: Browser, product: Product, look: Look
) -> None:
    page = await new_page(browser, "about:blank")
    sockets: list[WebSocketRoute] = []
    away = False

    async def connect(socket: WebSocketRoute) -> None:
        if away:
            await socket.close()
            return
        socket.connect_to_server()
        sockets.append(socket)

    await page.route_web_socket(lambda url: True, connect)
    await page.goto(f"{product.running.url}/app/board")
    await expect(page.get_by_role("heading", name="Task board")).to_be_visible()
    away = True
    for socket in sockets:
        await socket.close()
    await expect(page.locator(".ui-banner")).to_contain_text("cannot be reached")
    await look.at(page, "offline")
    assert await page.evaluate(COVERED) <= 0  # on a phone
    other = await new_page(browser, f"{product.running.url}/app/board")
    await expect(other.get_by_role("heading", name="Task board")).to_be_visible()
    await product.host.stop()
    await expect(other.get_by_role("heading", name="Session ended")).to_be_visible()
    await look.at(other, "ended")

    assert look.findings() == ""
