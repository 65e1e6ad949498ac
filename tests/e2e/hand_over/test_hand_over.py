"""A person passes a login in the agent's own browser; the agent goes on behind it and learns nothing of the secrets."""

import anyio
import pytest
from playwright.async_api import Browser, Page, expect

from e2e.approvals_page.conftest import Scheme
from e2e.hand_over.conftest import CODE, Agent
from e2e.person_console.conftest import accessible, opened

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
REASON = "Please sign in with your code"
USES: tuple[tuple[str, dict[str, object]], ...] = (
    ("ui_get_snapshot", {}),
    ("ui_screenshot", {}),
    ("ui_browser", {"op": "console"}),
    ("ui_browser", {"op": "network"}),
    ("ui_browser", {"op": "evaluate", "text": "document.title"}),
    ("ui_browser", {"op": "cookies"}),
    ("ui_browser", {"op": "navigate", "url": "http://127.0.0.1:1/"}),
    ("ui_perform", {"actions": [{"type": "click", "x": 5, "y": 5}]}),
    ("ui_query", {"selector": {"text": "Sign in"}}),
    ("ui_wait_for", {"selector": {"text": "Sign in"}, "timeoutMs": 200}),
    ("ui_test", {"record": "start"}),
)


async def taken_over(browser: Browser, agent: Agent, width: int = 1280, scheme: Scheme = "light") -> Page:
    """Let the agent hand over, and the person open its browser on their page."""
    await agent.call("ui_browser", op="hand_over", text=REASON, options={"seconds": 1})
    page = await opened(browser, agent.running, width=width, scheme=scheme)
    await expect(page.get_by_text(REASON)).to_be_visible()
    await page.get_by_role("button", name="Take over").click()
    await expect(page.get_by_text("127.0.0.1")).to_be_visible()
    await expect(page.get_by_text("Connecting…")).to_be_hidden()
    return page


async def sign_in(page: Page) -> None:
    """Type the code into the field of the shown browser by the keyboard, and submit it."""
    await page.keyboard.press("Tab")
    await page.keyboard.type(CODE)
    await page.keyboard.press("Enter")
    await expect(page.locator(".wheel-address")).to_contain_text("/inside")


@pytest.mark.covers("IN-146")
async def test_the_person_passes_a_login_and_the_agent_goes_on_behind_it(browser: Browser, agent: Agent) -> None:
    before = await agent.call("ui_get_snapshot")
    page = await taken_over(browser, agent)
    answers: list[str] = []

    async def wait() -> None:
        answers.append(await agent.call("ui_browser", op="hand_over", text=REASON, options={"seconds": 100}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await sign_in(page)
        await page.get_by_role("button", name="Give back to agent").click()
        await expect(page.locator(".wheel")).to_be_hidden()

    assert "Sign in" in before
    assert answers[0].startswith("The person gave the browser back.")
    assert "3 invoices" in answers[0]


@pytest.mark.covers("IN-145")
async def test_every_use_is_refused_while_the_person_operates_the_browser(browser: Browser, agent: Agent) -> None:
    await taken_over(browser, agent)

    refused = [await agent.call(tool, **arguments) for tool, arguments in USES]

    assert [("HANDED_OVER" in answer) for answer in refused] == [True] * len(USES), refused


@pytest.mark.covers("IN-145")
async def test_nothing_of_that_time_is_in_later_answers(browser: Browser, agent: Agent) -> None:
    page = await taken_over(browser, agent)
    await sign_in(page)
    await page.get_by_role("button", name="Give back to agent").click()
    await expect(page.locator(".wheel")).to_be_hidden()

    said = [
        await agent.call("ui_browser", op="console"),
        await agent.call("ui_browser", op="network"),
        await agent.call("ui_browser", op="cookies"),
        await agent.call("ui_get_snapshot"),
    ]

    assert "Welcome" in said[3]
    assert [word for word in (CODE, "secret-cookie", "/typed", "POST") if word in "\n".join(said)] == []


@pytest.mark.covers("IN-145")
async def test_what_the_person_has_typed_stays_masked(browser: Browser, agent: Agent) -> None:
    page = await taken_over(browser, agent)
    await page.keyboard.press("Tab")
    await page.keyboard.type(CODE)
    await page.get_by_role("button", name="Give back to agent").click()
    await expect(page.locator(".wheel")).to_be_hidden()

    outline = await agent.call("ui_get_snapshot")

    assert "Sign in" in outline
    assert CODE not in outline


@pytest.mark.covers("IN-146")
async def test_one_page_operates_it_and_only_the_person_gives_it_back(browser: Browser, agent: Agent) -> None:
    first = await taken_over(browser, agent)
    second = await opened(browser, agent.running)
    cancelled = await agent.call("ui_browser", op="hand_over", options={"cancel": True, "seconds": 1})
    await expect(second.get_by_role("button", name="Take over")).to_be_hidden()
    await first.close()
    await second.get_by_role("button", name="Take over").click()

    await expect(second.get_by_text("Connecting…")).to_be_hidden()
    assert "The person operates the browser now" in cancelled


@pytest.mark.covers("IN-146")
async def test_a_declined_request_is_told_to_the_agent(browser: Browser, agent: Agent) -> None:
    await agent.call("ui_browser", op="hand_over", text=REASON, options={"seconds": 1})
    page = await opened(browser, agent.running)
    await page.locator(".wheel-offer").get_by_role("button", name="Not now").click()
    await expect(page.get_by_text(REASON)).to_be_hidden()

    assert "Sign in" in await agent.call("ui_get_snapshot")


@pytest.mark.covers("IN-146")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
async def test_the_screen_is_accessible_and_can_be_left_by_the_keyboard(
    browser: Browser, agent: Agent, width: int, scheme: Scheme
) -> None:
    page = await taken_over(browser, agent, width, scheme)
    await page.keyboard.press("F6")

    await expect(page.get_by_role("button", name="Give back to agent")).to_be_focused()
    await accessible(page)
