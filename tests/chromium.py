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
