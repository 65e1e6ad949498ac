"""Films the scenes of `scenes/` for README and documentation: `python scripts/media.py [NAME[-VIEW] ...]`.

Writes into docs/, or into the folder OUT of the environment; `tour-dark` is the view `dark` of the scene `tour`.
"""

import os
import sys
from pathlib import Path

import anyio
import scenes
from film import Scene, View, opened
from playwright.async_api import Browser, async_playwright

import needs
from chromium import FLAGS
from ui_mcp.discovery import discover_modules

OUT = Path(os.environ.get("OUT", Path(__file__).resolve().parents[1] / "docs"))


async def main() -> None:
    everything: list[Scene] = [module.SCENE for module in discover_modules(scenes)]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=needs.browser(), args=FLAGS)
        for scene in everything:
            for view in scene.views:
                if is_wanted(Path(scene.to).name, view.name, sys.argv[1:]):
                    await make(browser, scene, view)
        await browser.close()


def is_wanted(scene: str, view: str, names: list[str]) -> bool:
    """Return whether a view of a scene is among the names, or all are wanted; pure."""
    return not names or scene in names or f"{scene}-{view}" in names


async def make(browser: Browser, scene: Scene, view: View) -> None:
    async with opened(browser, view) as film:
        await scene.play(film)
        sys.stdout.write(f"{await film.write(OUT / f'{scene.to}-{view.name}')}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    anyio.run(main)
