"""Two real MCP clients and a real page on one directory: what is left when a client or the server is killed."""

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from sys import executable
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from playwright.async_api import Browser, Page, async_playwright, expect

import needs
from agreeing import agree
from chromium import FLAGS, HEADLESS
from e2e.introspect_loop.test_loop import APP, VIEW
from integration.lineclient import LineClient, kill_server, until_ended
from person_client import let_in
from security.neighbour import Neighbour, neighbour
from security.test_app_pages import SHOP

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.covers("UI-JOIN-4", "UI-JOIN-5")]


class Agent:
    """The SDK's client, on `ui-mcp mcp`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; return the text of its first block, parsed if it is JSON."""
        block = (await self._client.call_tool(tool, arguments)).content[0]
        assert block.type == "text"
        try:
            return json.loads(block.text)
        except ValueError:
            return block.text

    async def pid(self) -> int:
        """Return the process of this client: the last that has joined."""
        return int((await self.call("ui_status"))["clients"][-1]["pid"])


@asynccontextmanager
async def agent(folder: Path) -> AsyncIterator[Agent]:
    server = StdioServerParameters(
        command=executable, args=["-m", "ui_mcp", "mcp"], cwd=folder, env={**os.environ, "UI_LINGER": "0"}
    )
    async with Client(server) as client:
        yield Agent(client)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser: Browser = await playwright.chromium.launch(
            executable_path=needs.browser(), args=FLAGS, headless=HEADLESS, timeout=120_000
        )
        page = await browser.new_page()
        await page.goto(url)
        yield page
        await browser.close()


def project(folder: Path, shop: Neighbour) -> None:
    """Write an app, and an API whose changes a person must approve."""
    base = folder / ".claude/ui"
    (base / "apps/tally/viewdefs").mkdir(parents=True)
    (base / "apps/tally/app.lua").write_text(
        APP.replace("self.count = self.count + 2", "self.count = self.count + 1\n    mcp.pushState{event = 'added'}")
    )
    (base / "apps/tally/viewdefs/Tally.DEFAULT.html").write_text(VIEW)
    (folder / "shop.json").write_text(json.dumps({**SHOP, "servers": [{"url": f"{shop.url}/api"}]}))
    settings = {
        "data_dir": str(folder / "data"),
        "targets": [{"name": "shop", "spec": "./shop.json"}],
        "policy": {"mode": "guard"},
        "approvals": {"sync_wait_s": 0.2},
    }
    (folder / "nlui.yaml").write_text(json.dumps(settings))
    (base / "config").mkdir()
    (base / "config/config.toml").write_text('[gateway]\nconfig = "nlui.yaml"\n')
    agree(base)


async def test_page_state_events_chat_and_approvals_go_on_when_the_first_client_is_killed(tmp_path: Path) -> None:
    with neighbour() as shop:
        project(tmp_path, shop)
        async with agent(tmp_path) as first:
            url = await first.call("ui_start")
            await first.call("ui_display", name="tally")
            asked = await first.call("shop__ship", id=42)
            posted = await first.call("chat_assistant_post", content="Shipping.")
            killed = await first.pid()
            async with opened(url) as page, agent(tmp_path) as second:
                await page.click("#add")
                await expect(page.locator("#count")).to_have_text("1")
                await second.call("ui_status")
                os.kill(killed, signal.SIGKILL)

                await page.click("#add")
                await expect(page.locator("#count")).to_have_text("2")
                assert [one["event"] for one in await second.call("ui_wait")] == ["added", "added"]
                assert await second.call("ui_run", code="return tally.count") == 2
                assert [one["id"] for one in (await second.call("chat_read_since"))["messages"]] == [posted["id"]]
                status = await second.call("ui_status")
                assert (status["url"], len(status["clients"])) == (url, 1)
                approve(status["person_url"], asked)
                done = await second.call("approvals__result", approval_id=asked["approval_id"], wait_s=60)

            assert "awaiting_approval" not in str(done)
            assert "/api/ship" in shop.paths


def approve(person_url: str, asked: dict[str, Any]) -> None:
    answer = {"decision": "approve", "digest": asked["digest"]}
    with httpx2.Client(base_url=person_url, headers=let_in(person_url), timeout=60) as person:
        assert person.post(f"/approvals/{asked['approval_id']}/decision", json=answer).status_code == 200


async def test_page_state_events_chat_and_approvals_come_back_when_the_server_is_killed(tmp_path: Path) -> None:
    with neighbour() as shop:
        project(tmp_path, shop)
        async with agent(tmp_path) as first:
            url = await first.call("ui_start")
            await first.call("ui_display", name="tally")
            asked = await first.call("shop__ship", id=42)
            posted = await first.call("chat_assistant_post", content="Shipping.")
            async with opened(url) as page, agent(tmp_path) as second:
                await page.click("#add")
                await expect(page.locator("#count")).to_have_text("1")
                while "unsaved" in await second.call("ui_status"):
                    pass
                kill_server(tmp_path / ".claude/ui")
                # What is sent to a server while it dies is lost; what is done from here on waits for the next one.
                await page.wait_for_selector("html.ui-disconnected", state="attached")

                await page.click("#add")  # without a reload
                await expect(page.locator("#count")).to_have_text("2")
                events = [one["event"] for one in await second.call("ui_wait")]
                assert events == ["added", "session_restarted", "added"]
                assert await first.call("ui_run", code="return tally.count") == 2
                assert [one["id"] for one in (await first.call("chat_read_since"))["messages"]] == [posted["id"]]
                status = await first.call("ui_status")
                assert (status["url"], len(status["clients"])) == (url, 2)
                approve(status["person_url"], asked)
                done = await second.call("approvals__result", approval_id=asked["approval_id"], wait_s=60)

        assert "awaiting_approval" not in str(done)
        assert [path for path in shop.paths if path == "/api/ship"] == ["/api/ship"]


@pytest.mark.covers("UI-JOIN-8")
def test_a_browser_that_agents_drove_does_not_keep_the_server(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as looking:
        looking.call("ui_start")
        looking.call("ui_get_snapshot", target="browser")
        looking.kill()
        assert until_ended(tmp_path / ".claude/ui")
