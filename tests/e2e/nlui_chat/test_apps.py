"""Apps of two mounted servers beside the chat: each calls its own server, under policy, and is back after a reload."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from e2e.nlui_chat.conftest import log, say
from integration.nlui import nlui
from person_client import let_in

pytestmark = pytest.mark.slow
SERVER = Path(__file__).parents[2] / "gateway" / "app_server.py"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("apps")
    servers = [{"name": name, "command": sys.executable, "args": [str(SERVER), name]} for name in ("one", "two")]
    script = [
        {"when": {"tool_result": "."}, "emit": [{"say": "Here it is."}]},
        *({"when": {"user": f"show {name}"}, "emit": [{"call": f"{name}__show"}]} for name in ("one", "two")),
        {"emit": [{"say": "You said something."}]},
    ]
    config = {
        "data_dir": str(folder / "data"),
        "llm": {"provider": "scripted", "script": script},
        "mcp": {"startup_wait_ms": 120_000, "servers": servers},
        "policy": {"mode": "guard", "rules": [{"tool": "*__show", "decision": "allow"}]},
    }
    (folder / "nlui.yaml").write_text(json.dumps(config))
    with nlui(folder, "--port", "0", str(folder / "nlui.yaml")) as url:
        yield url


@pytest.fixture
def chat(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1300, "height": 800})
    context.add_init_script(f"localStorage.setItem('ui-person', '{let_in(address)['x-ui-person']}')")
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def app(page: Page) -> FrameLocator:
    return page.frame_locator(".nlui-appframe iframe").frame_locator("iframe")


@pytest.mark.covers("GW-APP-7", "GW-APP-1")
def test_an_app_opens_with_the_result_of_its_own_server_and_is_back_after_a_reload(chat: Page) -> None:
    say(chat, "show two")
    expect(app(chat).locator("h1")).to_have_text("view of two")
    expect(app(chat).locator("#result")).to_have_text("show of two")

    chat.reload()

    expect(app(chat).locator("#result")).to_have_text("show of two")
    chat.get_by_role("button", name="Close").click()
    expect(chat.locator(".nlui-app")).to_be_hidden()
    chat.get_by_role("button", name="Open app").click()
    expect(app(chat).locator("#result")).to_have_text("show of two")


@pytest.mark.covers("GW-APP-8", "GW-APP-4")
def test_a_call_of_an_app_waits_for_the_person_and_reaches_its_own_server(chat: Page) -> None:
    say(chat, "show one")
    app(chat).get_by_role("button", name="refresh").click()
    expect(chat.get_by_text("The app wants to call one__refresh.")).to_be_visible()

    with chat.context.expect_page() as opened:
        chat.get_by_role("link", name="Answer").click()
    opened.value.get_by_role("button", name="Approve", exact=False).first.click()

    expect(app(chat).locator("#answer")).to_have_text("refresh of one")
    expect(chat.get_by_text("The app wants to call")).to_be_hidden()


@pytest.mark.covers("GW-APP-8")
def test_an_app_reaches_neither_tools_for_models_nor_those_of_another_server(chat: Page) -> None:
    say(chat, "show one")
    for name in ("think", "two__show", "only_two"):
        app(chat).get_by_role("button", name=f"try {name}", exact=True).click()
        expect(app(chat).locator("#answer")).to_have_text(f"one has no tool '{name}' for its apps")


@pytest.mark.covers("GW-APP-8")
def test_an_app_speaks_only_with_the_persons_agreement(chat: Page) -> None:
    say(chat, "show one")
    app(chat).get_by_role("button", name="speak").click()
    expect(chat.get_by_text("The app wants to say: “hello”")).to_be_visible()
    chat.get_by_role("button", name="No", exact=True).click()
    expect(app(chat).locator("#answer")).to_have_text("The person did not send the message")

    app(chat).get_by_role("button", name="speak").click()
    chat.locator(".nlui-appbar").get_by_role("button", name="Send").click()
    expect(log(chat).get_by_text("You said something.")).to_be_visible()


@pytest.mark.covers("GW-APP-6")
def test_an_app_reaches_neither_the_page_around_it_nor_the_network(chat: Page) -> None:
    say(chat, "show one")
    app(chat).get_by_role("button", name="escape").click()

    expect(app(chat).locator("#answer")).to_have_text("contained: SecurityError, TypeError")
