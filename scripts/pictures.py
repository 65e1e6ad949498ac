"""Takes the README's screenshots of the example apps; needs Chromium and the `browser` extra."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

import anyio
from playwright.async_api import Browser, async_playwright

from ui_mcp.app.ui_server import open_host
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.states import Running

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
Scheme = Literal["light", "dark"]
PICTURES: tuple[tuple[str, Scheme], ...] = (("dashboard", "light"), ("board", "dark"))
"""App and colour scheme."""


async def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / ".claude" / "ui"
        for app in sorted((ROOT / "examples").glob("*/app.lua")):
            shutil.copytree(app.parent, base / "apps" / app.parent.name)
        async with open_host({}, ListenPorts(), Announcements()) as host, async_playwright() as playwright:
            await host.begin(str(base))
            running = await host.start()
            chromium = shutil.which("chromium") or shutil.which("google-chrome")
            browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for picture in PICTURES:
                await take(running, browser, *picture)
            await browser.close()


async def take(running: Running, browser: Browser, app: str, scheme: Scheme) -> None:
    await running.sessions.get("1").display(app)
    context = await browser.new_context(viewport={"width": 1200, "height": 700}, color_scheme=scheme)
    page = await context.new_page()
    await page.goto(running.url)
    await page.wait_for_selector("[ui-viewdef] [ui-viewdef]:visible")
    await page.wait_for_timeout(800)
    await page.screenshot(path=IMAGES / f"{app}-{scheme}.png")
    await context.close()


if __name__ == "__main__":
    sys.exit(anyio.run(main))
