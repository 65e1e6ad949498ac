"""The chat page of nlui in Chromium on its demo: message, tool, approval, result, answer, yield."""

import pytest
from playwright.sync_api import Page, expect

from e2e.nlui_chat.conftest import Open, complaints, log, say

pytestmark = pytest.mark.slow


@pytest.mark.covers("GW-REN-1")
def test_the_whole_journey_from_question_to_shipped_order(page: Page) -> None:
    page.get_by_role("button", name="Show the orders").click()
    table = page.get_by_role("table")
    expect(table).to_contain_text("Ada Lovelace")
    expect(log(page).get_by_text("and I ask you before I do it")).to_be_visible()

    say(page, "ship order 1")
    expect(page.get_by_role("heading", name="Your agent wants to ship order 1 in shop")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("button", name="Approve once").click()

    expect(log(page).get_by_text("Order 1 is on its way.")).to_be_visible()
    expect(log(page).get_by_text("approved by you")).to_be_visible()
    expect(page.locator("dl.nlui-card")).to_contain_text("Espresso machine")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.get_by_text("This conversation:")).to_be_visible()


def test_a_no_is_respected_and_a_stop_too(page: Page) -> None:
    say(page, "ship order 2")
    page.get_by_role("button", name="Deny").click()
    expect(log(page).get_by_text("Then I leave it.")).to_be_visible()

    say(page, "ship order 2")
    expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    page.get_by_role("button", name="Stop").click()

    expect(log(page).get_by_text("Stopped.")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_two_conversations_that_want_the_same_are_each_asked(opened: Open, url: str) -> None:
    pages = [opened(url), opened(url)]
    for page in pages:
        say(page, "ship order 3")
        expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    for page in pages:
        page.get_by_role("button", name="Deny").click()
        expect(log(page).get_by_text("Then I leave it.")).to_be_visible()


def test_what_is_written_while_a_conversation_is_made_belongs_to_it(page: Page) -> None:
    say(page, "hello")
    expect(log(page).get_by_text("I am a scripted demo")).to_be_visible()
    before = page.url
    page.route("**/api/conversations", lambda _: None)
    with page.expect_request("**/api/conversations"):
        page.get_by_role("button", name="New conversation").click()
    page.get_by_label("Message", exact=True).fill("show the orders")
    expect(log(page).get_by_text("I am a scripted demo")).to_have_count(0)

    page.unroute("**/api/conversations")  # lets the waiting request go on
    expect(page).not_to_have_url(before)
    page.get_by_label("Message", exact=True).press("Enter")

    expect(page.get_by_role("table")).to_have_count(1)
    expect(log(page).get_by_text("I am a scripted demo")).to_have_count(0)


def test_a_question_is_edited_in_place_and_asked_again(page: Page) -> None:
    say(page, "hello")
    expect(log(page).get_by_text("I am a scripted demo")).to_be_visible()
    page.get_by_role("article", name="You").hover()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Edit message").fill("show the orders")
    page.keyboard.press("Enter")

    expect(page.get_by_role("table")).to_have_count(1)
    expect(log(page).get_by_text("I am a scripted demo")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    spent = page.get_by_text("This conversation:").inner_text()

    page.get_by_role("article", name="You").hover()
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("This conversation:")).not_to_have_text(spent)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.get_by_role("article", name="You")).to_have_count(1)
    expect(page.get_by_role("table")).to_have_count(1)


def test_a_reloaded_page_shows_the_same_conversation(page: Page) -> None:
    say(page, "show the orders")
    expect(log(page).get_by_text("and I ask you before I do it")).to_be_visible()

    page.reload()

    expect(page.get_by_role("heading", name="show the orders", exact=True)).to_be_visible()
    expect(page).to_have_title("show the orders · nlui")
    expect(log(page).get_by_text("and I ask you before I do it")).to_be_visible()
    expect(page.get_by_role("article", name="You")).to_contain_text("show the orders")
    expect(page.get_by_text("This conversation: 580 tokens in, 42 out")).to_be_visible()


def test_arguments_can_be_edited_before_saying_yes(page: Page) -> None:
    say(page, "ship order 1")
    page.get_by_label("Arguments", exact=True).fill("{")
    page.get_by_role("button", name="Approve once").click()
    expect(page.get_by_role("alert")).to_have_text("The arguments are not JSON.")
    page.get_by_label("Arguments", exact=True).fill('{"id": 3}')
    page.get_by_role("button", name="Approve once").click()

    expect(log(page).get_by_text("Order 3 is on its way.")).to_be_visible()


def test_the_result_can_be_seen_raw_and_back(page: Page) -> None:
    say(page, "show the orders")
    page.get_by_role("button", name="Raw").click()
    expect(page.get_by_text('"customer": "Ada Lovelace"')).to_be_visible()
    page.get_by_role("button", name="View").click()

    expect(page.get_by_role("table")).to_be_visible()


def test_tools_are_switched_off_for_one_conversation(page: Page) -> None:
    page.get_by_text("3 tools").click()
    with page.expect_response(lambda answer: answer.url.endswith("/tools") and answer.request.method == "PUT"):
        page.get_by_label("list_orders").uncheck()
    say(page, "show the orders")

    log(page).get_by_text("not allowed").click()
    expect(log(page).get_by_text("switched off in this conversation")).to_be_visible()


def test_everything_works_by_keyboard_alone(page: Page) -> None:
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.keyboard.type("ship order 2")
    page.keyboard.press("Enter")
    allow = page.get_by_role("button", name="Approve once")
    expect(allow).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.textContent") == "Approve once":
            break
    expect(allow).to_be_focused()
    page.keyboard.press("Enter")

    expect(log(page).get_by_text("Order 2 is on its way.")).to_be_visible()


def test_on_a_phone_the_side_is_behind_a_button(opened: Open, url: str) -> None:
    page = opened(url, width=390)
    new = page.get_by_role("button", name="New conversation")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()  # a conversation that opens shuts the side
    expect(new).to_be_hidden()

    page.get_by_role("button", name="Conversations and tools").click()
    expect(new).to_be_visible()
    page.keyboard.press("Escape")

    expect(new).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 1100), ("light", 390)])
def test_axe_finds_nothing_to_complain_about(opened: Open, url: str, scheme: str, width: int) -> None:
    page = opened(url, scheme=scheme, width=width)
    say(page, "show the orders")
    expect(page.get_by_role("table")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    say(page, "ship order 1")
    expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    assert complaints(page) == []

    page.get_by_role("button", name="Stop").click()
    expect(log(page).get_by_text("Stopped.")).to_be_visible()
    if width < 700:
        page.get_by_role("button", name="Conversations and tools").click()
    page.get_by_role("button", name="Change").click()
    page.get_by_label("Vendor").select_option("OpenAI")
    assert complaints(page) == []
