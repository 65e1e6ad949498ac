"""The page of the person in a real browser, on a ui server with a gateway's questions and on a gateway alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
import pytest
from playwright.async_api import Browser, Page, async_playwright

import needs
from agreeing import agree
from chromium import FLAGS, HEADLESS
from gateway.conftest import Recorder, json_reply, recorder
from gateway.gateways import gateway
from servers import running_server
from ui_mcp.gateway.listeners import serve_approvals
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.person import PersonKeys
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.states import Running

__all__ = ["recorder"]

Scheme = Literal["light", "dark"]


@pytest.fixture
async def shop(recorder: Recorder) -> Recorder:
    recorder.default = json_reply({"id": 7})
    return recorder


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=needs.browser(), args=FLAGS, headless=HEADLESS)
        yield opened
        await opened.close()


@asynccontextmanager
async def gateway_alone(folder: Path, shop: Recorder) -> AsyncIterator[tuple[GatewayService, str]]:
    """A gateway under guard, and the address of its person's listener."""
    async with gateway(folder, shop) as found, anyio.create_task_group() as tasks:
        urls: list[str] = []
        ready = anyio.Event()

        def opened(url: str) -> None:
            urls.append(url)
            ready.set()

        tasks.start_soon(serve_approvals, found, opened)
        await ready.wait()
        yield found, urls[0]
        tasks.cancel_scope.cancel()


@dataclass(frozen=True)
class Whole:
    """A ui server that shows the questions of a gateway; only the store is shared."""

    gateway: GatewayService
    server: Running

    @property
    def url(self) -> str:
        return self.server.person_url


@pytest.fixture
async def whole(tmp_path: Path, shop: Recorder) -> AsyncIterator[Whole]:
    yaml = tmp_path / "nlui.yaml"
    yaml.write_text(dumps({"data_dir": str(tmp_path / "data")}))
    config = tmp_path / ".claude" / "ui" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[gateway]\nconfig = "{yaml}"\n')
    agree(config.parent.parent)
    async with gateway(tmp_path, shop) as found, running_server(tmp_path) as server:
        yield Whole(found, server)


def link(url: str) -> str:
    """A link that signs the person in, once."""
    return f"{url}/#code={PersonKeys().new_code()}"


async def opened(browser: Browser, url: str, width: int = 1200, scheme: Scheme = "light") -> Page:
    """Open a page; it belongs to a browser profile of its own."""
    context = await browser.new_context(viewport={"width": width, "height": 760}, color_scheme=scheme)
    page = await context.new_page()
    await page.goto(url)
    return page


async def ask(found: GatewayService, name: str) -> str:
    """Make a call that waits for an answer; return its id."""
    result = await found.enforcer.call("shop__addThing", {"body": {"name": name}}, Call(client_name="Claude"))
    told: JsonObject = result.structured or {}
    return str(told["approval_id"])
