"""The page of the person: signing in and out, writing to the agent, and an app in the frame that stays in its frame."""

import pytest
from playwright.async_api import Browser, Page, Route, expect

from e2e.approvals_page.conftest import Whole, ask, link, opened
from gateway.conftest import Recorder
from person_client import META
from ui_mcp.person import PersonKeys

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def signed_in(page: Page) -> None:
    await expect(page.get_by_role("button", name="Sign out")).to_be_visible()


async def test_a_link_signs_in_once_and_its_code_leaves_the_address(browser: Browser, whole: Whole) -> None:
    code = link(whole.url)
    page = await opened(browser, code)
    await signed_in(page)
    address = page.url
    await page.reload()
    await signed_in(page)
    stolen = await opened(browser, code)
    await expect(stolen.get_by_role("alert")).to_contain_text("This code is not valid")

    assert address == f"{whole.url}/"
    assert await page.evaluate("document.cookie") == ""


async def test_a_typed_code_signs_in_and_a_wrong_one_says_so(browser: Browser, whole: Whole) -> None:
    page = await opened(browser, whole.url)
    await expect(page.get_by_text("ui-mcp open")).to_be_visible()
    await page.keyboard.type("abc")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_have_text("A code has 16 letters and digits.")
    await page.get_by_label("Code").fill("AAAA-BBBB-CCCC-DDDD")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("This code is not valid")
    await expect(page.get_by_label("Code")).to_be_focused()

    await page.keyboard.type(PersonKeys().new_code().replace("-", " ").lower())
    await page.keyboard.press("Enter")
    await signed_in(page)


async def test_signing_out_ends_the_credential_in_every_tab(browser: Browser, whole: Whole) -> None:
    page = await opened(browser, link(whole.url))
    await signed_in(page)
    other = await page.context.new_page()
    await other.goto(whole.url)
    await signed_in(other)
    credential = await page.evaluate("localStorage['ui-person']")

    await page.get_by_role("button", name="Sign out").click()

    await expect(page.get_by_role("alert")).to_have_text("You are signed out.")
    await expect(other.get_by_role("alert")).to_have_text("You signed out in another tab.")
    await page.evaluate("(value) => { localStorage['ui-person'] = value }", credential)
    await page.reload()
    await expect(page.get_by_role("alert")).to_have_text("This browser is no longer signed in.")


async def test_the_person_writes_to_the_agent_and_reviews_what_it_asks(browser: Browser, whole: Whole) -> None:
    page = await opened(browser, link(whole.url))
    await page.get_by_label("Message").fill("Add a **boat**")
    await page.keyboard.press("Enter")
    await expect(page.locator(".chat-user strong")).to_have_text("boat")
    await expect(page.get_by_label("Waiting for an agent", exact=True)).to_be_visible()

    approval = await ask(whole.gateway, "boat")
    await expect(page).to_have_title("(1) ui-mcp")
    await page.get_by_role("button", name="1 question waiting").click()
    await expect(page.locator(f"#approval-{approval}").get_by_role("button", name="Approve once")).to_be_visible()

    await page.keyboard.press("Alt+c")
    await expect(page.get_by_role("tab", name="Chat")).to_be_hidden()
    await page.keyboard.press("Alt+c")
    await expect(page.get_by_role("tab", name="Chat")).to_be_visible()


async def test_a_click_that_was_meant_for_a_window_over_the_page_answers_nothing(
    browser: Browser, shop: Recorder, whole: Whole
) -> None:
    page = await opened(browser, link(whole.url))
    approval = await ask(whole.gateway, "boat")
    await page.get_by_role("button", name="1 question waiting").click()
    approve = page.locator(f"#approval-{approval}").get_by_role("button", name="Approve once")
    await expect(approve).to_be_enabled()

    # The window on top closes between two clicks, and the second one comes before the page has heard of its focus.
    over = "window.dispatchEvent(new Event('blur')); document.hasFocus = () => true"
    await page.evaluate(f"document.hasFocus = () => false; {over}")
    await approve.evaluate("(button) => button.click()")
    await expect(approve).to_be_visible()
    assert shop.requests == []

    await approve.click()
    await expect(approve).to_be_hidden()


async def test_a_page_from_before_a_restart_renews_its_nonce_and_nothing_is_lost(
    browser: Browser, whole: Whole
) -> None:
    async def older(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, body=META.sub('<meta name="ui-nonce" content="old">', await answer.text()))

    page = await opened(browser, link(whole.url))
    await signed_in(page)
    await page.route(f"{whole.url}/", older)
    await page.reload()
    await page.get_by_label("Message").fill("still here")
    async with page.expect_request("**/person/nonce"):
        await page.keyboard.press("Enter")

    await expect(page.get_by_label("Waiting for an agent", exact=True)).to_be_visible()


APP_CODE = """async () => {
    const tries = {};
    const attempt = async (name, work) => {
        try { tries[name] = String(await work()); } catch (error) { tries[name] = error.name; }
    };
    await attempt("read", () => parent.document.body.innerText);
    await attempt("store", () => parent.localStorage["ui-person"]);
    await attempt("navigate", () => { parent.location = "https://example.com/"; });
    await attempt("top", () => { top.location.href = "https://example.com/"; });
    await attempt("fetch", async () => (await fetch(PERSON + "/person/state")).status);
    await attempt("post", async () => (await fetch(PERSON + "/chat/messages", {method: "POST", mode: "no-cors",
        body: '{"content": "as you"}'})).type);
    return tries;
}"""


async def test_an_app_in_the_frame_can_neither_read_nor_navigate_nor_call_the_page_around_it(
    browser: Browser, whole: Whole
) -> None:
    page = await opened(browser, link(whole.url))
    frame = page.frame_locator("iframe[title=App]")
    await expect(frame.locator(".shell-landing")).to_be_visible()
    await expect(frame.locator("[data-chat]")).to_be_hidden()
    inside = next(one for one in page.frames if one.url.startswith(whole.server.url))

    tries = await inside.evaluate(APP_CODE.replace("PERSON", f"'{whole.url}'"))

    assert tries == {
        "read": "SecurityError",
        "store": "SecurityError",
        "navigate": "SecurityError",
        "top": "SecurityError",
        "fetch": "TypeError",
        "post": "TypeError",
    }
    assert page.url == f"{whole.url}/"
    await expect(page.get_by_text("No messages yet")).to_be_visible()


async def test_no_page_can_hold_the_page_of_the_person_in_a_frame(browser: Browser, whole: Whole) -> None:
    page = await opened(browser, "about:blank")
    await page.set_content(f'<iframe src="{whole.url}/"></iframe>')
    [_, framed] = page.frames

    await framed.wait_for_url("chrome-error://**")


async def test_the_shell_shows_waiting_calls_without_a_way_to_answer(browser: Browser, whole: Whole) -> None:
    approval = await ask(whole.gateway, "boat")
    page = await opened(browser, whole.server.url)
    await page.get_by_role("button", name="Chat", exact=True).click()
    waiting = page.get_by_role("region", name="Waiting for your answer")

    await expect(waiting).to_contain_text("1 question is waiting for your answer")
    await expect(waiting).to_contain_text("/things")
    await expect(waiting.get_by_role("button")).to_have_count(0)
    await page.goto(f"{whole.server.url}/approvals")
    assert page.url == f"{whole.url}/approvals"
    await page.goto(link(whole.url))
    await expect(page.locator(f"#approval-{approval}")).to_be_visible()


async def test_the_theme_that_is_chosen_dresses_the_app_too(browser: Browser, whole: Whole) -> None:
    page = await opened(browser, link(whole.url))
    html = page.frame_locator("iframe[title=App]").locator("html")
    await page.get_by_label("Theme").select_option("dusk")

    for name in ("theme-dusk", "sl-theme-dark"):
        await expect(page.locator("html")).to_contain_class(name)
        await expect(html).to_contain_class(name)
