"""Four people edit while worker and server are killed: what was confirmed as saved is there, and nothing is twice.

`STATE_KILLS=200 pytest tests/integration/state_kills --timeout 3600` kills more often.
"""

import os
import random
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from httpx2 import HTTPError
from websockets.exceptions import WebSocketException

from integration.state_kills.book import Model, Server
from ui_mcp.errors import UiMcpError
from ui_mcp.testing.browser import Browser, open_socket

CUT_OFF = (OSError, WebSocketException, HTTPError, UiMcpError)
KILLS = int(os.environ.get("STATE_KILLS", "6"))
PAGES = 4

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


class Writer:
    """One person's page, which is opened again whenever it is cut off."""

    def __init__(self, number: int, url: str, model: Model) -> None:
        self._number = number
        self._url = url
        self._model = model
        self._count = 0

    async def run(self) -> None:
        while True:
            try:
                async with open_socket(self._url) as browser:
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


async def shown(server: Server) -> str:
    """What a new page shows."""
    for _ in range(100):
        try:
            async with open_socket(server.url) as browser:
                await browser.until(lambda: "|" in browser.text)
                return str(browser.find("texts()").value("texts()"))
        except CUT_OFF:
            await anyio.sleep(0.1)
    raise AssertionError("no page could be opened")


@pytest.mark.covers("STATE-1", "STATE-3")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_what_was_saved_survives_every_kill(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    url = "" if database == "sqlite" else f'[storage]\nurl = "{request.getfixturevalue("postgres_url")()}"\n'
    server, model = Server(tmp_path, url), Model(PAGES)
    await to_thread.run_sync(server.start)
    dice = random.Random(24)
    writers = [Writer(page, server.url, model) for page in range(PAGES)]
    try:
        for number in range(KILLS):
            async with anyio.create_task_group() as people:
                for writer in writers:
                    people.start_soon(writer.run)
                before = len(model.saved)
                with anyio.fail_after(60):
                    while len(model.saved) < before + 5:
                        await anyio.sleep(0.01)
                await anyio.sleep(dice.random() / 5)
                # Every third crash of a worker within a minute would end the session.
                await to_thread.run_sync(server.kill if number % 2 else server.kill_worker)
                people.cancel_scope.cancel()
            model.check(await shown(server))
    finally:
        await to_thread.run_sync(server.stop)
    assert len(model.saved) >= 5 * KILLS
