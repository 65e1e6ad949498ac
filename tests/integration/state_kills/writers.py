"""People who write into the book, each on a page of their own over a WebSocket."""

from collections.abc import Mapping

import anyio
from httpx2 import HTTPError
from websockets.exceptions import WebSocketException

from integration.state_kills.book import Model
from ui_mcp.errors import UiMcpError
from ui_mcp.testing.browser import Browser, open_socket

CUT_OFF = (OSError, WebSocketException, HTTPError, UiMcpError)


class Writer:
    """One person's page, which is opened again whenever it is cut off."""

    def __init__(self, number: int, url: str, model: Model, cookies: Mapping[str, str] | None = None) -> None:
        self._number = number
        self._url = url
        self._model = model
        self._cookies = cookies
        self._count = 0

    async def run(self) -> None:
        while True:
            try:
                async with open_socket(self._url, cookies=self._cookies) as browser:
                    await self._write(browser)
            except CUT_OFF:
                await anyio.sleep(0.05)

    async def _write(self, browser: Browser) -> None:
        await browser.until(lambda: browser.find("write()"))
        frames = 1  # the watch
        waiting: dict[int, str] = {}
        while True:
            self._count += 1
            text = f"{self._number}:{self._count}"
            self._model.sent.add(text)
            view = browser.find("write()")
            typed = [view.number, view.binding("text", actions=False).position, text]
            await browser.send(typed, [view.number, view.binding("write()").position])
            frames += 1
            waiting[frames] = text
            saved = browser.page.saved
            await browser.until(lambda before=saved: browser.page.saved > before)  # type: ignore[misc]
            for done in [number for number in waiting if number <= browser.page.saved]:
                self._model.saved.add(waiting.pop(done))


async def shown(url: str, cookies: Mapping[str, str] | None = None) -> str:
    """What a new page shows."""
    for _ in range(100):
        try:
            async with open_socket(url, cookies=cookies) as browser:
                await browser.until(lambda: "|" in browser.text)
                return str(browser.find("texts()").value("texts()"))
        except CUT_OFF:
            await anyio.sleep(0.1)
    raise AssertionError("no page could be opened")
