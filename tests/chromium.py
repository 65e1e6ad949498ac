"""The browser of the tests: the system's own, quiet and without a network of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from playwright import async_api
from playwright.sync_api import Browser, expect, sync_playwright

import needs

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

Scheme = Literal["light", "dark"]
# Await this before axe looks: what fades has less contrast on its way. A document does not list what moves in its
# shadow roots, one transition can start another, and those of what is not drawn, as in closed details, may never end.
SETTLED = """async () => {
  const pause = (ms) => new Promise((over) => setTimeout(over, ms));
  const roots = (root) => [root, ...[...root.querySelectorAll('*')]
      .flatMap(({ shadowRoot }) => shadowRoot === null ? [] : roots(shadowRoot))];
  const moving = () => roots(document).flatMap((root) => root.getAnimations()).filter(({ effect, playState }) =>
      playState === 'running' && effect.getComputedTiming().endTime !== Infinity && effect.target?.checkVisibility());
  for (const limit = performance.now() + 3000; performance.now() < limit;) {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const left = moving();
    if (left.length === 0) return;
    await Promise.race([pause(500), Promise.allSettled(left.map((one) => one.finished))]);
  }
}"""
HEADLESS = not os.environ.get("HEADED")

# Five seconds, the default, are not enough on a busy machine; a test that passes never waits this long.
expect.set_options(timeout=30_000)
async_api.expect.set_options(timeout=30_000)


@contextmanager
def launched(*flags: str) -> Iterator[Browser]:
    """Run Chromium for the length of the block."""
    path = needs.browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=[*FLAGS, *flags], headless=HEADLESS, timeout=120_000
        )
        yield browser
        browser.close()
