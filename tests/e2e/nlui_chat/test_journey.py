"""The chat page of nlui in Chromium: message, tool, approval, result, answer."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from interaction.nlui import nlui_demo

pytestmark = pytest.mark.slow
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nlui_demo(tmp_path_factory.mktemp("nlui")) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(url)
    expect(page.get_by_text("Ask for something")).to_be_visible()
    yield page
    page.close()
    assert problems == []


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def test_the_whole_journey_from_question_to_shipped_order(page: Page) -> None:
    say(page, "show the orders")
    table = page.get_by_role("table")
    expect(table).to_contain_text("Ada Lovelace")
    expect(page.get_by_text("and I ask you before I do it")).to_be_visible()

    say(page, "ship order 1")
    expect(page.get_by_role("heading", name="May I call shop__ship_order?")).to_be_visible()
    page.get_by_role("button", name="Allow once").click()

    expect(page.get_by_text("Order 1 is on its way.")).to_be_visible()
    expect(page.get_by_text("approved by human")).to_be_visible()


def test_a_reloaded_page_shows_the_same_conversation(page: Page) -> None:
    say(page, "hello")
    expect(page.get_by_text("I am a scripted demo")).to_be_visible()

    page.reload()

    expect(page.get_by_text("I am a scripted demo")).to_be_visible()
    expect(page.get_by_label("You")).to_contain_text("hello")


def test_arguments_can_be_edited_before_saying_yes(page: Page) -> None:
    say(page, "ship order 1")
    page.get_by_label("Arguments").fill('{"id": 3}')
    page.get_by_role("button", name="Allow once").click()

    expect(page.get_by_text("Order 3 is on its way.")).to_be_visible()


def test_the_result_can_be_seen_raw(page: Page) -> None:
    say(page, "show the orders")
    page.get_by_role("button", name="Raw").click()

    expect(page.get_by_text('"customer": "Ada Lovelace"')).to_be_visible()


def test_on_a_phone_the_side_is_behind_a_button(browser: Browser, url: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(url)
    new = page.get_by_role("button", name="New conversation")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    expect(new).to_be_hidden()

    page.get_by_role("button", name="Conversations and tools").click()

    expect(new).to_be_visible()
    page.close()
