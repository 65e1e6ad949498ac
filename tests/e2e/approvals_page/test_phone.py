"""The inbox on a phone, over HTTPS in a real browser: paired, notified, revoked; and pairing on the computer."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from anyio import to_thread
from playwright.async_api import Browser, Page, expect

from chromium import SETTLED
from e2e.approvals_page.conftest import Scheme, link, opened
from e2e.approvals_page.test_inbox import permission, place
from e2e.nlui_chat.conftest import AXE
from phone_client import AGENT, PushService, push_service
from phone_page import follow, on_phone, phone_browser, phone_settings, turn_notifications_on
from servers import running_server
from ui_mcp.inbox.phone.devices import Devices
from ui_mcp.inbox.service import Reply
from ui_mcp.inbox.service import opened as opened_inbox
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def push() -> Iterator[PushService]:
    with push_service() as service:
        yield service


@pytest.fixture
async def on_phones() -> AsyncIterator[Browser]:
    async with phone_browser() as opened:
        yield opened


@asynccontextmanager
async def served(folder: Path, push: PushService) -> AsyncIterator[Running]:
    async with running_server(folder, **phone_settings(folder, push)) as running:
        yield running


async def sound(page: Page) -> None:
    """Nothing is wider than the screen, and axe has nothing to complain about."""
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.evaluate(SETTLED)
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    assert await page.evaluate("axe.run().then((found) => found.violations.map((one) => one.id))") == []


@pytest.mark.covers("INBOX-9", "INBOX-10", "INBOX-11", "INBOX-12")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_phone_is_paired_notified_answers_and_is_revoked(
    scheme: Scheme, on_phones: Browser, tmp_path: Path, push: PushService
) -> None:
    async with served(tmp_path, push) as server, opened_inbox(place(server)) as inbox:
        origin = server.config.phone.origin
        page = await on_phone(on_phones, f"{origin}/inbox", scheme)
        await expect(page.get_by_role("heading", name="Pair this phone")).to_be_visible()
        await sound(page)
        await page.goto(f"{origin}/inbox#code={Devices().new_code()}")
        await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()
        await expect(page.get_by_text("Notifications go through the push service")).to_be_visible()
        await turn_notifications_on(page, push)
        wanted = await permission(inbox)
        message = await to_thread.run_sync(push.received)
        await follow(page, message["link"])
        card = page.locator(f"#approval-{wanted.id}")
        await expect(card).to_be_visible()
        await sound(page)
        await card.get_by_role("button", name="Allow once").click()
        await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()
        await follow(page, message["link"])
        await expect(page.get_by_text("This link was used before or is too old.")).to_be_visible()
        (device,) = Devices().listed()
        Devices().revoke(device.id)
        await expect(page.get_by_role("alert")).to_have_text("This phone is not paired any more.")
        await sound(page)
        allowed = await inbox.get(wanted.id)

    assert message["body"] == "Claude Code asks for your permission"
    assert (allowed.status, allowed.answer and allowed.answer["decision"]) == ("answered", "allow")


@pytest.mark.covers("INBOX-12")
async def test_the_worker_shows_a_push_message_and_answers_no_request_for_data(
    on_phones: Browser, tmp_path: Path, push: PushService
) -> None:
    async with served(tmp_path, push) as server, opened_inbox(place(server)) as inbox:
        origin = server.config.phone.origin
        page = await on_phone(on_phones, f"{origin}/inbox#code={Devices().new_code()}")
        await page.context.grant_permissions(["notifications"], origin=origin)
        await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        await page.reload()
        wanted = await permission(inbox)
        await inbox.answer(wanted.id, Reply("deny", "human"))
        cached = await page.evaluate(
            "caches.keys().then(async (names) => (await Promise.all(names.map(async (name) =>"
            " (await (await caches.open(name)).keys()).map((one) => new URL(one.url).pathname)))).flat())"
        )
        (worker,) = page.context.service_workers
        shown = await worker.evaluate(
            """async () => {
              const data = { json: () => ({ title: "ui-mcp", body: "Codex has a question", link: "", tag: "t" }) };
              let done = Promise.resolve();
              const event = new Event("push");
              Object.assign(event, { waitUntil: (work) => { done = work; } });
              Object.defineProperty(event, "data", { value: data });
              self.dispatchEvent(event);
              await done;
              const all = await self.registration.getNotifications();
              return all.map((one) => [one.title, one.body, one.actions.length]);
            }"""
        )

    assert cached, "files of the page are kept"
    assert all(path.startswith("/person/assets/") for path in cached)
    assert shown == [["ui-mcp", "Codex has a question", 0]]


@pytest.mark.covers("INBOX-10")
async def test_the_computer_shows_a_qr_code_the_paired_phone_and_removes_it(
    browser: Browser, tmp_path: Path, push: PushService
) -> None:
    async with served(tmp_path, push) as server:
        page = await opened(browser, link(server.person_url))
        await page.get_by_role("tab", name="Inbox").click()
        await page.get_by_text("Phones", exact=True).click()
        await page.get_by_role("button", name="Pair a phone").click()
        await expect(page.get_by_role("img", name="QR code that pairs a phone")).to_be_visible()
        await sound(page)
        code = await page.locator(".phone-code").inner_text()
        Devices().exchange(code, server.config.phone.origin, AGENT)
        await expect(page.get_by_text("Paired: Chrome on Android.")).to_be_visible()
        await sound(page)
        await page.get_by_role("button", name="Remove Chrome on Android").click()
        await expect(page.get_by_text("It can answer nothing any more.")).to_be_visible()

    assert Devices().listed() == []
