"""A Chromium, a scripted server, and pages that must not log errors."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from chromium import launched

from .scripted import ScriptedServer


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.stop()


@pytest.fixture
def context(chromium: Browser, server: ScriptedServer) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    context.route(lambda url: not url.startswith(("http://127.0.0.1:", "data:")), lambda route: route.abort())
    yield context
    context.close()


@pytest.fixture
def console() -> list[str]:
    """Errors seen so far; a test that expects some clears the list."""
    return []


@pytest.fixture
def page(context: BrowserContext, server: ScriptedServer, console: list[str]) -> Iterator[Page]:
    page = context.new_page()

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            console.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: console.append(str(error)))
    page.goto(server.url)
    watch: Any = server.hear()
    asked = {"varId": 1, "expand": True, "address": "/"}
    assert watch == {"userEvent": False, "messages": [{"type": "watch", "data": asked}]}
    yield page
    assert console == []
