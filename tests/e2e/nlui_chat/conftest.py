"""A browser for the chat page of nlui; every page proves that it asked no other host and logged no error."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from chromium import FLAGS, HEADLESS, SETTLED, Scheme
from e2e.chat_page.conftest import chromium
from integration.nlui import nlui_demo
from needs import missing
from person_client import let_in

AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS, headless=HEADLESS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nlui_demo(tmp_path_factory.mktemp("nlui")) as url:
        yield url


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Open pages as the person, or as a person not `known`; at the end nothing may have gone wrong in them."""
    problems: list[str] = []
    contexts = []

    def open_page(
        url: str,
        *,
        width: int = 1100,
        height: int = 800,
        scheme: Scheme = "light",
        strict: bool = True,
        known: bool = True,
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        home = url.partition("#")[0]
        page.on(
            "request", lambda request: None if request.url.startswith((home, "data:")) else problems.append(request.url)
        )
        if strict:
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        if known:
            credential = let_in(home)["x-ui-person"]
            context.add_init_script(f"localStorage.setItem('ui-person', '{credential}')")
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def page(opened: Open, url: str) -> Page:
    page = opened(url)
    expect(page.get_by_text("Ask for something")).to_be_visible()
    return page


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def log(page: Page) -> Locator:
    """The conversation as it is seen."""
    return page.get_by_role("region", name="Conversation", exact=True)


def complaints(page: Page) -> list[list[str]]:
    """What axe finds wrong with the page as it stands."""
    if not AXE.is_file():
        missing("axe-core")
    page.evaluate(SETTLED)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[list[str]] = page.evaluate(
        "axe.run().then((result) => result.violations.map(({ id, nodes }) => [id, String(nodes[0].target)]))"
    )
    return found
