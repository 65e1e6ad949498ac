"""What a browser loads before an app can be used: counted in requests and in bytes as they are sent."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from .conftest import Server

pytestmark = pytest.mark.slow

MAX_REQUESTS = 5
MAX_BYTES = 60 * 1024


@pytest.mark.covers("UI-PAGE-9")
def test_an_app_with_plain_controls_is_used_after_few_requests_and_bytes(
    server: Server, context: BrowserContext
) -> None:
    server.call("ui_display", name="counter")
    page = context.new_page()
    asked: dict[str, str] = {}
    sent: dict[str, int] = {}

    def request(event: Any) -> None:
        asked[event["requestId"]] = event.get("url") or event["request"]["url"]

    network = context.new_cdp_session(page)
    network.on("Network.requestWillBeSent", request)
    network.on("Network.webSocketCreated", request)
    network.on("Network.loadingFinished", lambda event: sent.update({event["requestId"]: event["encodedDataLength"]}))
    network.send("Network.enable")

    page.goto(server.url, wait_until="commit")
    page.locator("#up").click()
    expect(page.locator("#count")).to_have_text("1")

    assert len(asked) <= MAX_REQUESTS, sorted(asked.values())
    assert sum(sent.values()) <= MAX_BYTES, sent
    assert sent.keys() <= asked.keys()
    assert not [url for url in asked.values() if any(late in url for late in ("core.js", "more.js", "icons", "chat"))]
