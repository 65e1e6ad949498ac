"""Records the tour as it runs in a real browser, and writes it as an animated WebP.

WIDTH, SCHEME and OUT in the environment choose the width of the page, light or dark, and the file. Frames are encoded
by the browser itself, so that nothing else needs to be installed.
"""

import os
import struct
import sys
import tempfile
from base64 import b64decode
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import anyio
from playwright.async_api import Browser, Page, async_playwright

import needs
from chromium import FLAGS
from ui_mcp.app.commands.demo import demo_server
from ui_mcp.person import PersonKeys

ROOT = Path(__file__).resolve().parents[1]
WIDTH = int(os.environ.get("WIDTH", "1200"))
HEIGHT = 750
SHOWN = 820
"""Width of the recording in pixels, at most."""
SCHEME: Literal["light", "dark"] = "dark" if os.environ.get("SCHEME") == "dark" else "light"
OUT = Path(os.environ.get("OUT", ROOT / "docs/images/tour.webp"))
STEP_SECONDS = 0.4
LAST_MS = 4000
THINK_MS = 1400
"""How long the person takes for each of their two clicks."""

ENCODE = """async ([data, width]) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const size = [Math.min(width, picture.width), Math.round(picture.height * Math.min(1, width / picture.width))];
    const canvas = new OffscreenCanvas(...size);
    const context = canvas.getContext("2d", { alpha: false });
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, 0, 0, ...size);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.5 });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    return [size, btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""))];
}"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with demo_server(Path(folder), tour=True) as (_, (running, _mcp)), async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=needs.browser(), args=FLAGS)
            frames = await recorded(browser, f"{running.person_url}/#code={PersonKeys().new_code()}")
            size, pictures = await encoded(browser, frames)
            await browser.close()
    write(animation(size, pictures))
    seconds = frames[-1][0] - frames[0][0]
    sys.stdout.write(f"{len(frames)} frames, {seconds:.0f} s\n")


def write(data: bytes) -> None:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_bytes(data)
    sys.stdout.write(f"{OUT}: {len(data) / 1024:.0f} KiB, ")


async def recorded(browser: Browser, link: str) -> list[tuple[float, str]]:
    """Play the tour and return the time and picture of each frame that differs from the one before."""
    viewport = {"width": WIDTH, "height": HEIGHT if WIDTH > 800 else 844}
    context = await browser.new_context(viewport=viewport, color_scheme=SCHEME)  # type: ignore[arg-type]
    page = await context.new_page()
    frames: list[tuple[float, str]] = []
    cast = await context.new_cdp_session(page)

    async def taken(event: dict[str, Any]) -> None:
        if not frames or event["metadata"]["timestamp"] - frames[-1][0] >= STEP_SECONDS:
            frames.append((event["metadata"]["timestamp"], event["data"]))
        await cast.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    cast.on("Page.screencastFrame", taken)
    await page.goto(link)
    await cast.send("Page.startScreencast", {"format": "png"})
    await played(page)
    await cast.send("Page.stopScreencast")
    return frames


async def played(page: Page) -> None:
    """Click what the person clicks."""
    euro = page.frame_locator("iframe").get_by_role("button", name="Euro")
    await euro.wait_for(timeout=90_000)
    await page.wait_for_timeout(THINK_MS)
    await euro.click()
    approve = page.get_by_role("button", name="Approve once", exact=True)
    await approve.wait_for(timeout=90_000)
    await page.wait_for_timeout(THINK_MS)
    await approve.click()
    await page.get_by_role("heading", name="Now with your own agent").wait_for(timeout=90_000)
    await page.wait_for_timeout(THINK_MS)


async def encoded(
    browser: Browser, frames: Sequence[tuple[float, str]]
) -> tuple[tuple[int, int], list[tuple[int, bytes]]]:
    """Return the size, and each picture as WebP with the milliseconds that it is shown."""
    page = await browser.new_page()
    lengths = [*(round((later[0] - one[0]) * 1000) for one, later in pairwise(frames)), LAST_MS]
    pictures: list[tuple[int, bytes]] = []
    size = (0, 0)
    for length, (_, data) in zip(lengths, frames, strict=True):
        (width, height), webp = await page.evaluate(ENCODE, [data, SHOWN])
        size = (width, height)
        pictures.append((length, b64decode(webp)))
    return size, pictures


def animation(size: tuple[int, int], pictures: Sequence[tuple[int, bytes]]) -> bytes:
    """Put still WebP pictures into one that moves, and plays for ever; pure."""
    extended = chunk(b"VP8X", struct.pack("<B3x", 0x02) + _small(size[0] - 1) + _small(size[1] - 1))
    head = chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0))
    frames = b"".join(chunk(b"ANMF", _frame(size, length) + _bitmap(still)) for length, still in pictures)
    body = b"WEBP" + extended + head + frames
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _bitmap(still: bytes) -> bytes:
    """Return the chunk with the pixels of a still picture, without profiles and the like."""
    at = 12
    while still[at : at + 4] not in {b"VP8 ", b"VP8L"}:
        at += 8 + (size := struct.unpack("<I", still[at + 4 : at + 8])[0]) + size % 2
    size = struct.unpack("<I", still[at + 4 : at + 8])[0]
    return still[at : at + 8 + size + size % 2]


def _frame(size: tuple[int, int], length: int) -> bytes:
    return _small(0) + _small(0) + _small(size[0] - 1) + _small(size[1] - 1) + _small(length) + b"\x02"


def chunk(name: bytes, data: bytes) -> bytes:
    """Return a chunk of a RIFF file, padded to an even length."""
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _small(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


if __name__ == "__main__":
    anyio.run(main)
