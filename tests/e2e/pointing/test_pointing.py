"""A person points at something in their app, and the agent learns what they mean."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from docs.blocks import Block, block, together
from e2e.approvals_page.conftest import Scheme
from e2e.person_console.conftest import accessible
from e2e.pointing.conftest import app_of, at_tea
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def pointed(server: Running) -> list[JsonObject]:
    events = [loads(text) for text in server.sessions.get("1").events.drain()]
    return [event for event in events if event["event"] == "pointed"]


async def say(page: Page, words: str) -> None:
    """Write into the card and send it, once it takes the Enter key."""
    field = page.get_by_label("What should change here?")
    await expect(field).to_be_focused()
    await field.fill(words)
    await expect(page.get_by_role("button", name="Send to agent")).to_be_enabled()
    await page.keyboard.press("Enter")
    await expect(field).to_be_hidden(timeout=60_000)


@pytest.mark.covers("UI-SHELL-9")
@together("compared", block("src/ui_mcp/bundle/base/resources/mcp.md", '"pointed"'))
async def test_an_alt_click_takes_element_sources_picture_and_words_to_the_agent(
    given: tuple[Block], browser: Browser, server: Running
) -> None:
    documented = loads(given[0].code)
    page = await at_tea(browser, server)
    await app_of(page).locator("#pour").click(modifiers=["Alt"])
    await say(page, "Call it Serve")
    [event] = pointed(server)
    picture = Path(event["picture"])

    assert documented.keys() == event.keys()
    assert {
        name: documented[name] for name in ("words", "target", "viewdef", "bindings", "sources")
    }.items() <= event.items()
    assert (event["words"], event["target"]) == ("Call it Serve", "page")
    assert {"type": "sl-button", "id": "pour", "text": "Pour"}.items() <= event["element"].items()
    assert event["bindings"] == [{"attribute": "ui-action", "path": "pour()"}]
    assert event["sources"] == [
        {"file": "apps/tea/viewdefs/Tea.DEFAULT.html", "line": 5, "what": 'ui-action="pour()"'},
        {"file": "apps/tea/app.lua", "line": 3, "what": "Tea:pour"},
    ]
    assert event["style"]["display"] == "inline-block"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert await app_of(page).locator("#cups").inner_text() == "1"
    await expect(page.get_by_text("Call it Serve")).to_be_visible()
    await expect(page.locator(".person-chat")).to_contain_text(f"uid {event['uid']}")


@pytest.mark.covers("UI-SHELL-9")
async def test_the_keyboard_alone_points_and_escape_cancels(browser: Browser, server: Running) -> None:
    page = await at_tea(browser, server)
    await page.get_by_role("button", name="Point").press("Enter")
    await expect(page.get_by_text("Esc cancels")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("Esc cancels")).to_be_hidden()
    await page.get_by_role("button", name="Point").press("Enter")
    await expect(page.get_by_text("Esc cancels")).to_be_visible()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("What should change here?")).to_be_focused()
    await page.keyboard.press("Escape")

    await expect(page.get_by_label("What should change here?")).to_be_hidden()
    await expect(page.get_by_role("button", name="Point")).to_be_focused()
    assert pointed(server) == []


@pytest.mark.covers("UI-SHELL-9")
async def test_an_app_cannot_ask_for_words_while_the_person_writes_elsewhere(browser: Browser, server: Running) -> None:
    page = await at_tea(browser, server)
    await page.get_by_label("Message", exact=True).focus()
    claim = "{type: 'ui-pointed', page: 'x', box: {x: 0, y: 0, width: 9, height: 9}}"
    frame = next(frame for frame in page.frames if frame.parent_frame)
    await frame.evaluate(f"parent.postMessage({claim}, '*')")
    # A message that the page does answer shows that the claim has been handled before it.
    await page.get_by_role("button", name="Point").press("Enter")
    await expect(page.get_by_text("Esc cancels")).to_be_visible()

    await expect(page.get_by_label("What should change here?")).to_have_count(0)


@pytest.mark.covers("UI-SHELL-9")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
async def test_the_card_is_accessible_and_inside_the_window(
    browser: Browser, server: Running, width: int, scheme: Scheme
) -> None:
    page = await at_tea(browser, server, width, scheme)
    await page.get_by_role("button", name="Point").click()
    await app_of(page).locator("#cups").click()
    box = await page.locator(".point-card").bounding_box()

    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    await accessible(page)
