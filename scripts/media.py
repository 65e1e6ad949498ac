"""Records the tour as it runs in a real browser: light, dark and on a phone, as animated WebP and as WebM.

`python scripts/media.py [light|dark|phone ...]` writes docs/images/tour-NAME.webp and .webm, or into the folder OUT of
the environment. GitHub plays WebP only; the documentation shows WebM. The browser encodes the frames itself, so that
nothing else needs to be installed.
"""

import os
import sys
import tempfile
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import anyio
from moving_pictures import Chunk, Patch, webm, webp
from playwright.async_api import Browser, Locator, Page, async_playwright

import needs
from chromium import FLAGS
from ui_mcp.app.commands.demo import demo_server
from ui_mcp.person import PersonKeys

ROOT = Path(__file__).resolve().parents[1]
OUT = Path(os.environ.get("OUT", ROOT / "docs/images"))
STEP_SECONDS = 0.2
LAST_MS = 4000
LONGEST_MS = 2500
"""No frame stays longer: the tour never pauses for more, but a busy machine does."""
THINK_MS = 900
"""How long the person takes for each of their clicks."""
QUALITY = 0.6
BITRATE = 400_000


@dataclass(frozen=True, slots=True)
class Recording:
    """How the page is shown, and how wide the recording is."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"]
    shown: int


RECORDINGS = (
    Recording("light", 1200, 750, "light", 960),
    Recording("dark", 1200, 750, "dark", 960),
    Recording("phone", 390, 760, "light", 390),
)
Frame = tuple[float, str]
"""When a picture was taken, in seconds, and the picture as PNG in Base64."""

PREPARE = """() => {
    let before = null;
    const picture = async (data, width) => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
        const scale = Math.min(1, width / bitmap.width);
        const even = (length) => 2 * Math.round(length * scale / 2);
        const canvas = new OffscreenCanvas(even(bitmap.width), even(bitmap.height));
        const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
        context.imageSmoothingQuality = "high";
        context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
        return [canvas, context];
    };
    const base64 = (bytes) => btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));
    const changed = (now, { width, height }) => {
        let [left, top, right, bottom] = [width, height, 0, 0];
        for (let at = 0; at < now.length; at++) {
            if (before === null || now[at] !== before[at]) {
                const x = at % width, y = (at - x) / width;
                left = Math.min(left, x); right = Math.max(right, x + 1);
                top = Math.min(top, y); bottom = Math.max(bottom, y + 1);
            }
        }
        return [left - left % 2, top - top % 2, right, bottom];
    };
    window.patch = async (data, width, quality) => {
        const [canvas, context] = await picture(data, width);
        const now = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        const [left, top, right, bottom] = changed(now, canvas);
        before = now;
        if (right <= left) return [[canvas.width, canvas.height], null];
        const part = new OffscreenCanvas(right - left, bottom - top);
        part.getContext("2d", { alpha: false }).drawImage(canvas, -left, -top);
        const blob = await part.convertToBlob({ type: "image/webp", quality });
        const bytes = new Uint8Array(await blob.arrayBuffer());
        return [[canvas.width, canvas.height], [left, top, right - left, bottom - top, base64(bytes)]];
    };
    const chunks = [];
    let encoder = null, last_key = -1e9;
    window.video = async (data, width, at, bitrate) => {
        const [canvas] = await picture(data, width);
        if (encoder === null) {
            const output = (chunk) => {
                const bytes = new Uint8Array(chunk.byteLength);
                chunk.copyTo(bytes);
                chunks.push([chunk.timestamp / 1000, chunk.type === "key", base64(bytes)]);
            };
            encoder = new VideoEncoder({ output, error: (error) => { throw error; } });
            const { width, height } = canvas;
            encoder.configure({ codec: "vp09.00.31.08", width, height, bitrate, latencyMode: "quality" });
        }
        const keyFrame = at - last_key > 15000;
        if (keyFrame) last_key = at;
        const frame = new VideoFrame(canvas, { timestamp: at * 1000 });
        encoder.encode(frame, { keyFrame });
        frame.close();
    };
    window.finished = async () => { await encoder.flush(); return chunks; };
}"""


async def main() -> None:
    chosen = {*sys.argv[1:]} or {one.name for one in RECORDINGS}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=needs.browser(), args=FLAGS)
        for recording in RECORDINGS:
            if recording.name in chosen:
                await record(browser, recording)
        await browser.close()


async def record(browser: Browser, recording: Recording) -> None:
    """Play the tour in a server of its own, and write what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        async with demo_server(Path(folder), tour=True) as (_, (running, _mcp)):
            frames = await seen(browser, recording, f"{running.person_url}/#code={PersonKeys().new_code()}")
    shown = (round((later[0] - one[0]) * 1000) for one, later in pairwise(frames))
    lengths = [*(min(length, LONGEST_MS) for length in shown), LAST_MS]
    page = await encoding_page(browser)
    size, patches = await patched(page, recording, frames, lengths)
    written(recording, "webp", webp(size, patches))
    written(recording, "webm", webm(size, await filmed(page, recording, frames, lengths), sum(lengths)))
    await page.close()
    sys.stdout.write(
        f"{len(frames)} frames, {frames[-1][0] - frames[0][0]:.0f} s, shown in {sum(lengths) / 1000:.0f} s\n"
    )


def written(recording: Recording, ending: str, data: bytes) -> None:
    file = OUT / f"tour-{recording.name}.{ending}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    sys.stdout.write(f"{file.name}: {len(data) / 1024:.0f} KiB, ")


async def seen(browser: Browser, recording: Recording, link: str) -> list[Frame]:
    """Play the tour and return the frames, no two closer than a step."""
    context = await browser.new_context(
        viewport={"width": recording.width, "height": recording.height}, color_scheme=recording.scheme
    )
    page = await context.new_page()
    frames: list[Frame] = []
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
    await context.close()
    return frames


async def played(page: Page) -> None:
    """Click what the person clicks."""
    page.set_default_timeout(300_000)
    app = page.frame_locator("iframe")
    await thoughtful(app.get_by_role("button", name="Euro"))
    await page.get_by_text("Your turn: point").wait_for()
    await thoughtful(page.get_by_role("button", name="Point"))
    await thoughtful(app.get_by_role("heading", name="Lisbon, five days"))
    await page.get_by_label("What should change here?").press_sequentially("A week in Lisbon", delay=60)
    await page.get_by_role("button", name="Send to agent").click()
    await thoughtful(page.get_by_label("By bike"))
    await page.get_by_role("button", name="Send", exact=True).click()
    await thoughtful(page.get_by_role("button", name="Approve once", exact=True))
    await page.get_by_role("heading", name="Now with your own agent").wait_for()
    await page.wait_for_timeout(2 * THINK_MS)


async def thoughtful(place: Locator) -> None:
    """Click as a person who has to look for it first."""
    await place.wait_for()
    await place.page.wait_for_timeout(THINK_MS)
    await place.click()


async def encoding_page(browser: Browser) -> Page:
    """Return a page in which pictures can be encoded; browsers encode video at secure addresses only."""
    page = await browser.new_page()
    await page.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
    await page.goto("https://encoder.invalid/")
    await page.evaluate(PREPARE)
    return page


async def patched(
    page: Page, recording: Recording, frames: Sequence[Frame], lengths: Sequence[int]
) -> tuple[tuple[int, int], list[Patch]]:
    """Return the size, and what changes from frame to frame."""
    patches: list[Patch] = []
    size = (0, 0)
    for length, (_, data) in zip(lengths, frames, strict=True):
        whole, changed = await page.evaluate("(args) => patch(...args)", [data, recording.shown, QUALITY])
        size = (whole[0], whole[1])
        if changed is None:
            patches[-1] = replace(patches[-1], milliseconds=patches[-1].milliseconds + length)
        else:
            x, y, width, height, still = changed
            patches.append(Patch(x, y, width, height, b64decode(still), length))
    return size, patches


async def filmed(page: Page, recording: Recording, frames: Sequence[Frame], lengths: Sequence[int]) -> list[Chunk]:
    """Return the frames as VP9; the last is repeated at its end, so that players show it that long."""
    starts = [sum(lengths[:number]) for number in range(len(lengths))]
    shown = [*zip(starts, (data for _, data in frames), strict=True), (sum(lengths) - 100, frames[-1][1])]
    for start, data in shown:
        await page.evaluate("(args) => video(...args)", [data, recording.shown, start, BITRATE])
    chunks = await page.evaluate("() => finished()")
    return [Chunk(round(at), is_key, b64decode(data)) for at, is_key, data in chunks]


if __name__ == "__main__":
    anyio.run(main)
