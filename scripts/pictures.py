"""Takes the pictures of the example apps and of the elements, light and dark; needs Chromium and Playwright.

An example's picture lies beside it as `preview-light.webp` and `preview-dark.webp`: the start page and the gallery of
the documentation show them. The pictures of the elements are those of the snippets in `ui://components`.

python scripts/pictures.py [NAME ...]   without names: everything
"""

import re
import shutil
import sys
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from playwright.async_api import Browser, FloatRect, Page, async_playwright

from ui_mcp.app.ui_server import open_host
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.states import Running
from ui_mcp.workspace import BUNDLE

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
ELEMENTS = ROOT / "docs" / "images" / "elements"
GUIDE = BUNDLE / "base/resources/components.md"
SNIPPET = re.compile(r"^## (ui-\w+)\n.*?^```html\n(.*?)^```\n\n```lua\n(.*?)^```", re.DOTALL | re.MULTILINE)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
APP = "[ui-viewdef] [ui-viewdef]:visible"
SETTLE_MS = 1500
"""Elements load when they are first shown, and charts draw themselves in."""
QUALITY = 72
BAR = 49
"""Height of the shell's bar, which is not of the app."""
OPENED = {"ui-toast": "button", "ui-palette": "Control+k"}
"""What to click or press so that the element can be seen at all."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One app to show, and where its pictures go."""

    app: str
    element: str | None
    to: Path

    def file(self, scheme: str) -> Path:
        return self.to.with_name(f"{self.to.name}-{scheme}.webp")


async def main() -> None:
    async with async_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        # Apart, because examples and snippets may have the same names.
        for made in (examples, elements):
            await take_all(made, browser)
        await browser.close()


async def take_all(made: Callable[[Path], Iterator[Picture]], browser: Browser) -> None:
    """Serve the apps of one kind and take the pictures that were asked for."""
    chosen = {*sys.argv[1:]}
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / ".claude" / "ui"
        pictures = [one for one in made(base) if not chosen or {one.app, one.element} & chosen]
        async with open_host({}, ListenPorts(), Announcements()) as host:
            await host.begin(str(base))
            running = await host.start()
            for picture in pictures:
                for scheme in SCHEMES:
                    await take(running, browser, picture, scheme)


def examples(base: Path) -> Iterator[Picture]:
    """Copy the example apps, and yield their pictures."""
    for app in sorted(EXAMPLES.glob("*/app.lua")):
        shutil.copytree(app.parent, base / "apps" / app.parent.name)
        yield Picture(app.parent.name, None, app.parent / "preview")


def elements(base: Path) -> Iterator[Picture]:
    """Make an app of every snippet, and yield the pictures of its element."""
    for tag, html, lua in SNIPPET.findall(GUIDE.read_text("utf-8")):
        kind = re.search(r'session:prototype\("(\w+)"', lua)
        assert kind is not None, tag
        app = base / "apps" / kind[1].lower()
        (app / "viewdefs").mkdir(parents=True)
        (app / "app.lua").write_text(lua, "utf-8")
        (app / "viewdefs" / f"{kind[1]}.DEFAULT.html").write_text(f"<template><main>{html}</main></template>", "utf-8")
        yield Picture(app.name, tag, ELEMENTS / tag)


async def take(running: Running, browser: Browser, picture: Picture, scheme: Literal["light", "dark"]) -> None:
    await running.sessions.get("1").display(picture.app)
    size = (1000, BAR + 625) if picture.element is None else (700, 260 if OPENED.get(picture.element) else 600)
    context = await browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = await context.new_page()
    await page.goto(running.url)
    await page.wait_for_selector(APP)
    await page.wait_for_timeout(SETTLE_MS)
    if picture.element is not None:
        await opened(page, OPENED.get(picture.element))
    shown = await frame(page, picture.element)
    picture.to.parent.mkdir(parents=True, exist_ok=True)
    picture.file(scheme).write_bytes(await webp(page, shown, 0.6 if picture.element is None else 1))
    sys.stdout.write(f"{picture.file(scheme).relative_to(ROOT)}: {picture.file(scheme).stat().st_size // 1024} KiB\n")
    await context.close()


async def opened(page: Page, how: str | None) -> None:
    """Do what makes the element visible."""
    if how == "button":
        await page.locator(f"{APP} button").first.click()
    elif how:
        await page.keyboard.press(how)
    if how:
        await page.wait_for_timeout(SETTLE_MS // 2)


async def frame(page: Page, element: str | None) -> FloatRect:
    """Return the part of the page to show: an app without the shell's bar, or a snippet with some room around it."""
    width, height = await page.evaluate("[innerWidth, innerHeight]")
    if element is None:
        return {"x": 0, "y": BAR, "width": width, "height": height - BAR}
    if OPENED.get(element):
        return {"x": 0, "y": 0, "width": width, "height": height}
    box = await page.locator(APP).last.bounding_box()
    assert box is not None, element
    room = 16
    top = max(box["y"] - room, 0)
    return {"x": 0, "y": top, "width": width, "height": min(box["y"] + box["height"] + room, height) - top}


async def webp(page: Page, shown: FloatRect, scale: float) -> bytes:
    cdp = await page.context.new_cdp_session(page)
    clip = {**shown, "scale": scale}
    answer = await cdp.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY, "clip": clip})
    return b64decode(answer["data"])


if __name__ == "__main__":
    anyio.run(main)
