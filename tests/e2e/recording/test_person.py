"""What a person does in a browser of theirs, or on our page, is recorded as a scenario."""

import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Page, async_playwright

from introspection.demos import PATIENCE, debugged_chromium, needs
from ui_mcp.introspection.arguments import Action
from ui_mcp.introspection.backends.chromium.browser import connect_browser
from ui_mcp.introspection.backends.chromium.launch import script
from ui_mcp.introspection.backends.open_page import OpenPage, PageBackend
from ui_mcp.introspection.perform import ActionBatch, perform, play
from ui_mcp.introspection.recording.playwright import code
from ui_mcp.introspection.recording.recorded_target import start, stop
from ui_mcp.introspection.recording.recorder import Recording
from ui_mcp.introspection.target import Target
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.validation import read

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

SHOP = """<!doctype html><title>Shop</title><h1>Shop</h1>
<form onsubmit="said.textContent = 'found ' + what.value; return false">
  <label>Search <input id="what" autocomplete="off"></label><button>Go</button>
</form>
<p id="said"></p>
<label>Password <input type="password"></label>
<label><input type="checkbox"> Gift</label>
<label>Size <select><option>Small</option><option>Large</option></select></label>
<table><tr><td>Tea</td><td><button onclick="add('Tea')">Buy</button></td></tr>
<tr><td>Milk</td><td><button onclick="add('Milk')">Buy</button></td></tr></table>
<ul id="cart"></ul>
<script>
  const add = (name) => cart.append(Object.assign(document.createElement("li"), { textContent: name + " in cart" }));
</script>"""

STEPS: list[JsonObject] = [
    {"type": "setText", "target": {"role": "textbox", "text": "Search"}, "text": "tea"},
    {"type": "pressKey", "key": "ENTER"},
    {"expect": {"selector": {"css": "#said"}, "text": "found tea"}},
    {"type": "setText", "target": {"role": "textbox", "text": "Password"}, "text": "${UI_TEST_PASSWORD}"},
    {"type": "setChecked", "target": {"role": "checkbox", "text": "Gift"}, "checked": True},
    {"type": "select", "target": {"role": "combobox", "text": "Size"}, "value": "Large"},
    {"type": "click", "target": {"row": "Milk", "role": "button", "text": "Buy"}},
    {"expect": {"selector": {"text": "Milk in cart"}}},
]


Place = Callable[[Path], AbstractAsyncContextManager[tuple[Target, Page]]]


@asynccontextmanager
async def attached(folder: Path) -> AsyncIterator[tuple[Target, Page]]:
    """The page in a browser of the person that an agent has joined."""
    shop = folder / "shop.html"
    shop.write_text(SHOP)
    async with debugged_chromium(folder / "profile", shop.as_uri()) as addresses, async_playwright() as playwright:
        backend = await connect_browser(addresses["http"])
        browser = await playwright.chromium.connect_over_cdp(addresses["http"])
        yield Target("cdp", backend, seconds=PATIENCE), browser.contexts[0].pages[0]
        await backend.close()


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Target, Page]]:
    """The page as the person has it open, which answers by its own script."""
    needs("chromium")
    shop = folder / "shop.html"
    shop.write_text(SHOP)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = await browser.new_page()
        await page.goto(shop.as_uri())
        await page.evaluate(f"{script()}; globalThis.eyes = uiMcpIntrospect.create('a'); 0")

        async def ask(request: str) -> str:
            return str(await page.evaluate("request => eyes.call(request)", request))

        yield Target("page", PageBackend(lambda: OpenPage(ask, shop.as_uri(), os.getpid())), seconds=PATIENCE), page
        await browser.close()


async def shop_around(page: Page) -> None:
    """Do what a person would, by real input."""
    await page.get_by_label("Search").press_sequentially("tea")
    await page.keyboard.press("Enter")
    await page.get_by_label("Password").press_sequentially("hunter2")
    await page.get_by_text("Gift").click()
    await page.get_by_label("Size").press("ArrowDown")
    await page.get_by_role("row", name="Milk").get_by_role("button").click()


async def all_reported(recording: Target) -> Recording:
    """Stop once the page has reported the last thing."""
    with anyio.fail_after(60):
        while recording.recorder is not None and "Milk" not in repr(recording.recorder):
            if recording.name == "page":
                break
            await anyio.sleep(0.05)
    return await stop(recording)


@pytest.mark.covers("IN-150", "IN-148")
@pytest.mark.parametrize("where", [attached, opened])
async def test_what_a_person_does_becomes_a_scenario(where: Place, tmp_path: Path) -> None:
    async with where(tmp_path) as (target, page):
        await start(target)
        await shop_around(page)
        recording = await all_reported(target)

    assert "hunter2" not in dumps(recording.json())
    assert list(recording.steps) == STEPS


@pytest.mark.covers("IN-150")
async def test_an_agents_own_clicks_are_recorded_once(tmp_path: Path) -> None:
    async with attached(tmp_path) as (target, _):
        await start(target)
        buy = read(Action, {"type": "click", "target": {"row": "Tea", "role": "button"}})
        await perform(target, ActionBatch([buy], timeout_ms=60_000))
        recording = await stop(target)
        after = await perform(target, ActionBatch([buy], timeout_ms=60_000))

    assert after.error is None
    assert [step["type"] for step in recording.steps if "type" in step] == ["click"]


@pytest.mark.covers("IN-150", "IN-149")
async def test_a_persons_recording_plays_again_and_names_the_step_that_a_change_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UI_TEST_PASSWORD", "hunter2")
    async with attached(tmp_path) as (target, page):
        await page.reload()
        played = await play(target, STEPS, 30)
        await page.evaluate("document.querySelectorAll('button')[2].textContent = 'Order'")
        broken = await play(target, STEPS, 30)

    assert played is None
    assert broken is not None
    assert broken.json()["does"] == 'click button "Buy" in row "Milk"'


@pytest.mark.covers("IN-151")
def test_a_recording_is_written_for_playwright() -> None:
    written = code(Recording(tuple(STEPS), url="http://localhost/shop"))

    rows = '"tr, li, [role=row], [role=listitem], [role=option], [role=treeitem]"'
    said = 'page.locator("#said").first().evaluate((e: any) => e.value ?? e.textContent)'
    assert written.splitlines() == [
        'import { expect, test } from "@playwright/test";',
        "",
        'test("recording", async ({ page }) => {',
        '  await page.goto("http://localhost/shop");',
        '  await page.getByRole("textbox", { name: "Search", exact: true }).first().fill("tea");',
        '  await page.keyboard.press("Enter");',
        f'  await expect.poll(() => {said}).toContain("found tea");',
        f"  await {_password()}.fill(process.env.UI_TEST_PASSWORD!);",
        '  await page.getByRole("checkbox", { name: "Gift", exact: true }).first().setChecked(true);',
        '  await page.getByRole("combobox", { name: "Size", exact: true }).first().selectOption("Large");',
        f'  await page.locator({rows}).filter({{ hasText: "Milk" }}).{_buy()}.click();',
        '  await expect(page.getByText("Milk in cart").first()).toBeVisible();',
        "});",
    ]


def _password() -> str:
    return 'page.getByRole("textbox", { name: "Password", exact: true }).first()'


def _buy() -> str:
    return 'getByRole("button", { name: "Buy", exact: true }).first()'
