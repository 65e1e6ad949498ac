"""One server with everything on it, and a way to look at a page in every width and scheme.

`PAGE_SHOTS=DIR pytest tests/e2e/every_page` keeps a picture of each page, as DIR/NAME-WIDTH-SCHEME.png.
"""

import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from agreeing import agree
from chromium import SETTLED, Scheme
from e2e.approvals_page.conftest import browser, recorder, shop
from e2e.nlui_chat.conftest import AXE
from gateway.conftest import Recorder
from gateway.gateways import gateway
from phone_client import push_service
from phone_page import phone_settings
from ui_mcp.app.ui_server import open_host
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import Json, dumps
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.toolset import all_tools

__all__ = ["browser", "recorder", "shop"]

EXAMPLES = Path(__file__).parents[3] / "examples"
SHOWN = ("dashboard", "board", "expenses", "contacts")
WIDTHS = (1280, 768, 390)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
# A tooltip belongs to its element, wherever it is in the document; axe wants it inside a landmark.
FOUND = """async () => (await axe.run({ exclude: ['iframe', '[role=tooltip]'] }, { iframes: false })).violations
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`))"""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True, slots=True)
class Product:
    """A server with apps, a chat, an inbox and phones, beside a gateway whose calls wait in that inbox."""

    host: UiServer
    running: Running
    gateway: GatewayService

    async def call(self, tool: str, **arguments: Json) -> None:
        await all_tools(self.host).call(tool, dict(arguments), Call())


@pytest.fixture
async def product(tmp_path: Path, shop: Recorder, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Product]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    base, yaml = tmp_path / ".claude" / "ui", tmp_path / "nlui.yaml"
    for name in SHOWN:
        shutil.copytree(EXAMPLES / name, base / "apps" / name)
    yaml.write_text(dumps({"data_dir": str(tmp_path / "data")}))
    (base / "config").mkdir()
    (base / "config" / "config.toml").write_text(f'[gateway]\nconfig = "{yaml}"\n')
    agree(base)
    with push_service() as push:
        phones = {name.replace("__", "."): value for name, value in phone_settings(tmp_path, push).items()}
        given = {"lua.host": "thread", "lua.max_seconds": 60, **phones}
        async with gateway(tmp_path, shop) as found, open_host(given, ListenPorts(), Announcements()) as host:
            await host.begin(str(base))
            yield Product(host, await host.start(), found)


class Look:
    """Looks at pages in every width and scheme, and remembers what is wrong with them."""

    def __init__(self) -> None:
        self._wrong: list[str] = []

    def findings(self) -> str:
        """Return one line for each thing that is wrong."""
        return "\n".join(self._wrong)

    async def at(self, page: Page, name: str) -> None:
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 844 if width < 500 else 800})
            for scheme in SCHEMES:
                await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                await self._once(page, f"{name}-{width}-{scheme}")

    async def _once(self, page: Page, name: str) -> None:
        await page.evaluate(SETTLED)
        if folder := os.environ.get("PAGE_SHOTS"):
            await page.screenshot(path=Path(folder) / f"{name}.png")
        await page.evaluate(f"{AXE.read_text(encoding='utf-8')};0")
        self._wrong += [f"{name}: {one}" for one in await page.evaluate(FOUND)]
        if over := await page.evaluate(WIDER):
            self._wrong.append(f"{name}: {over} px wider than the screen")


@pytest.fixture
def look() -> Look:
    return Look()


async def new_page(browser: Browser, url: str) -> Page:
    """Open an address in a profile of its own."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = await context.new_page()
    await page.goto(url)
    return page
