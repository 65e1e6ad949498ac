"""Connections come and go: tabs, reloads, restarts, ended sessions, conserve mode, hot reloads."""

import os
import signal
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .conftest import COUNTER, COUNTER_VIEW, Server

pytestmark = pytest.mark.slow

NOTE_BANNERS = """() => { window.banners = "";
    new MutationObserver(() => { window.banners += document.querySelector(".ui-banner")?.textContent ?? ""; })
        .observe(document.body, { childList: true, subtree: true }) }"""


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.covers("UI-WIRE-14")
def test_two_tabs_show_the_same_and_closing_one_leaves_the_other(counter: Server, context: BrowserContext) -> None:
    first, second = context.new_page(), context.new_page()
    first.goto(counter.url)
    second.goto(counter.url)
    first.locator("#up").click()
    expect(first.locator("#count")).to_have_text("1")
    expect(second.locator("#count")).to_have_text("1")
    first.close()
    second.locator("#up").click()
    expect(second.locator("#count")).to_have_text("2")
    assert counter.call("ui_run", code="return counter.count") == 2


def test_a_reload_shows_the_state_again(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("1")
    page.reload()
    expect(page.locator("#count")).to_have_text("1")
    page.locator("#up").click()
    expect(page.locator("#half")).to_have_text("1")


@pytest.mark.covers("UI-WIRE-11", "UI-WIRE-12", "STATE-3")
def test_a_killed_server_comes_back_with_the_typed_text_and_the_waiting_click(
    counter: Server, context: BrowserContext, page: Page, console: list[str]
) -> None:
    page.goto(counter.url)
    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("1")
    wait_until(lambda: "unsaved" not in counter.call("ui_status"))
    page.locator("#name").focus()
    page.keyboard.type("half typ")

    counter.kill()
    expect(page.locator("html.ui-disconnected")).to_be_attached()
    expect(page.locator(".ui-banner")).to_contain_text("cannot be reached")
    page.evaluate("document.getElementById('up').click()")
    context.set_offline(True)  # the page tries again by itself, perhaps before the new server shows the app
    page.evaluate(NOTE_BANNERS)
    counter.start()
    counter.call("ui_display", name="counter")
    context.set_offline(False)

    page.wait_for_function("window.banners.includes('Connected again.')")
    expect(page.locator("html.ui-disconnected")).not_to_be_attached()
    expect(page.locator("#count")).to_have_text("2")
    expect(page.locator("#name")).to_have_value("half typ")
    expect(page.locator("#name")).to_be_focused()
    expect(page.locator(".ui-banner")).not_to_be_attached()
    console.clear()


@pytest.mark.covers("UI-WIRE-13")
def test_an_ended_session_says_so_and_leads_to_the_start(server: Server, page: Page, console: list[str]) -> None:
    page.goto(server.url)
    expect(page.locator(".shell-landing")).to_be_visible()
    server.kill()
    server.start()
    page.goto(f"{server.url}/")
    expect(page.locator(".shell-landing")).to_be_visible()
    page.evaluate("history.replaceState(null, '', '/0123456789abcdef0123456789abcdef/')")
    server.kill()
    server.start()
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(page.get_by_role("heading", name="Session ended")).to_be_visible()
    page.get_by_role("link", name="Start again").click()
    expect(page.locator(".shell-landing")).to_be_visible()
    console.clear()


@pytest.mark.covers("UI-WIRE-13", "UI-WIRE-15")
def test_a_reload_in_an_ended_session_says_so_and_opens_no_further_socket(
    counter: Server, page: Page, console: list[str]
) -> None:
    for _ in range(3):
        [child] = counter.children()
        os.kill(child, signal.SIGKILL)
        wait_until(lambda gone=child: gone not in counter.children())  # type: ignore[misc]
        if "crashed three times" in str(counter.call("ui_run", code="return 1")):
            break
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.clock.install()

    page.goto(counter.url)

    expect(page.get_by_role("heading", name="Session ended")).to_be_visible()
    expect(page.get_by_text("crashed three times within a minute")).to_be_visible()
    page.clock.run_for(120_000)
    assert len(sockets) <= 2  # that of the page's head, and the one that learns why it was closed
    console.clear()


@pytest.mark.covers("UI-WIRE-13", "STATE-1")
def test_a_killed_session_comes_back_with_its_state_and_tells_the_person(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("1")
    wait_until(lambda: "unsaved" not in counter.call("ui_status"))

    for child in counter.children():
        os.kill(child, signal.SIGKILL)

    expect(page.locator(".ui-notice").first).to_contain_text("continues where it was")
    expect(page.locator("#count")).to_have_text("1")
    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("2")
    assert {"app": "ui-mcp", "event": "session_restarted"}.items() <= counter.call("ui_wait", timeout=20)[0].items()


@pytest.mark.covers("UI-CONS-1", "UI-CONS-2", "UI-CONS-4")
def test_conserve_mode_turns_a_second_page_away(counter: Server, context: BrowserContext) -> None:
    first = context.new_page()
    first.goto(f"{counter.url}/?conserve=true")
    expect(first.locator("#count")).to_have_text("0")

    second = context.new_page()
    sockets: list[str] = []
    second.on("websocket", lambda socket: sockets.append(socket.url))
    second.add_init_script(
        "window.notes = []; window.Notification = class { constructor(text) { window.notes.push(text) } };"
        "Notification.permission = 'granted'"
    )
    second.goto(f"{counter.url}/?conserve=true")
    expect(second.get_by_role("heading", name="Session is already open")).to_be_visible()
    expect(second.get_by_role("link", name="Close this page")).to_be_visible()
    assert second.evaluate("window.notes") == ["Session 1 is already active in another tab."]
    assert sockets == []
    expect(first).to_have_title("● ui-mcp")

    second.get_by_role("link", name="Open here anyway").click()
    expect(second.locator("#count")).to_have_text("0")


NOTIFICATIONS = """
window.notes = [];
window.Notification = class {
  constructor(text) { notes.push(text) }
  static get permission() { return localStorage.answer ?? "default" }
  static async requestPermission() { notes.push("asked"); return localStorage.answer = "granted" }
}
"""


@pytest.mark.covers("UI-CONS-2")
def test_the_first_tab_asks_once_whether_a_second_may_be_announced(counter: Server, context: BrowserContext) -> None:
    context.add_init_script(NOTIFICATIONS)
    first = context.new_page()
    first.goto(f"{counter.url}/?conserve=true")
    first.locator("#up").click()
    expect(first.locator("#count")).to_have_text("1")
    first.locator("#up").click()

    second = context.new_page()
    second.goto(f"{counter.url}/?conserve=true")
    expect(second.get_by_role("heading", name="Session is already open")).to_be_visible()

    assert first.evaluate("notes") == ["asked"]
    assert second.evaluate("notes") == ["Session 1 is already active in another tab."]


def turned_away(page: Page, url: str) -> None:
    """Open the page until it is turned away: a plain page lets others find it only some time after it is shown."""
    heading = page.get_by_role("heading", name="Session is already open")
    for _ in range(20):
        page.goto(url)
        expect(heading.or_(page.locator("#count"))).to_be_visible()
        if heading.is_visible():
            return
    expect(heading).to_be_visible()


@pytest.mark.covers("UI-CONS-3")
def test_conserve_mode_finds_plain_pages_and_forgets_closed_ones(counter: Server, context: BrowserContext) -> None:
    first = context.new_page()
    first.goto(counter.url)
    expect(first.locator("#count")).to_have_text("0")
    second = context.new_page()
    turned_away(second, f"{counter.url}/?conserve=true")
    second.close()
    first.reload()
    expect(first.locator("#count")).to_have_text("0")
    first.close()

    third = context.new_page()
    third.goto(f"{counter.url}/?conserve=true")
    expect(third.locator("#count")).to_have_text("0")


@pytest.mark.covers("UI-CONS-3")
def test_conserve_mode_calls_pages_whose_timers_rest_and_forgets_crashed_ones(
    counter: Server, context: BrowserContext
) -> None:
    first = context.new_page()
    first.add_init_script("window.setInterval = () => 0")
    first.add_init_script("addEventListener('pagehide', (event) => event.stopImmediatePropagation())")
    first.goto(counter.url)
    expect(first.locator("#count")).to_have_text("0")
    second = context.new_page()
    turned_away(second, f"{counter.url}/?conserve=true")
    first.close()

    third = context.new_page()
    third.goto(f"{counter.url}/?conserve=true")
    expect(third.locator("#count")).to_have_text("0")


@pytest.mark.covers("UI-CONS-5")
def test_conserve_mode_without_shared_workers_loads_normally(counter: Server, page: Page) -> None:
    page.add_init_script("delete window.SharedWorker; delete window.Notification")
    page.goto(f"{counter.url}/?conserve=true")
    expect(page.locator("#count")).to_have_text("0")


def test_an_edited_viewdef_appears_with_count_text_focus_and_caret_kept(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("1")
    page.locator("#name").focus()
    page.keyboard.type("abcd")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")

    edited = COUNTER_VIEW.replace("<h1>Counter</h1>", "<h1>Better counter</h1><p>with more</p>")
    (counter.app / "viewdefs" / "Counter.DEFAULT.html").write_text(edited)
    expect(page.locator("h1").last).to_have_text("Better counter")
    expect(page.locator("#count")).to_have_text("1")
    page.keyboard.type("X")
    expect(page.locator("#name")).to_have_value("abXcd")
    page.locator("#up").click()
    expect(page.locator("#echo")).to_have_text("abXcd")
    expect(page.locator("#count")).to_have_text("2")


def test_an_edited_lua_file_changes_what_is_shown(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    page.locator("#up").click()
    expect(page.locator("#half")).to_have_text("0.5")
    (counter.app / "app.lua").write_text(COUNTER.replace("self.count / 2", "self.count * 10"))
    expect(page.locator("#half")).to_have_text("10")


def test_the_error_of_a_broken_file_goes_when_the_file_is_repaired(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    (counter.app / "app.lua").write_text(COUNTER + "no lua")
    expect(page.get_by_role("alert")).to_contain_text("app.lua")
    (counter.app / "app.lua").write_text(COUNTER)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_error_in_an_action_shows_on_its_button(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    page.locator("#bad").click()
    expect(page.locator("#bad.ui-error")).to_have_attribute("ui-error-description", "apps/counter/app.lua:6: it broke")
    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("1")


def test_the_mark_of_an_error_goes_with_the_template_that_had_it(counter: Server, page: Page) -> None:
    page.goto(counter.url)
    page.locator("#bad").click()
    expect(page.locator("#bad.ui-error")).to_be_visible()

    (counter.app / "viewdefs" / "Counter.DEFAULT.html").write_text(COUNTER_VIEW.replace("Counter</h1>", "Mended</h1>"))

    expect(page.locator("h1").last).to_have_text("Mended")
    expect(page.locator(".ui-error")).to_have_count(0)
