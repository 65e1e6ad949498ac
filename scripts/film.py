"""Films a page while it is used in a real browser, and writes what was seen as animated WebP, as WebM and as a still.

GitHub plays WebP only; the documentation shows WebM. The browser encodes the frames itself, so that nothing else needs
to be installed.
"""

import os
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Literal

from moving_pictures import Chunk, Patch, webm, webp
from playwright.async_api import Browser, Locator, Page

SCRIPT = Path(__file__).with_suffix(".js")
STEP_SECONDS = 0.1
COARSE_SECONDS = 0.4
"""The same for WebP, which takes much more for each frame: it knows nothing of movement."""
LAST_MS = 4000
LONGEST_MS = 2500
"""No frame stays longer: nothing that is shown pauses for more, but a busy machine does."""
THINK_MS = 500
"""How long a person looks before the pointer moves, and again before they click."""
KEY_MS = 45
QUALITY = 0.35
WORTH = 1.0
"""How much larger a patch without loss may be than one with."""
STILL_QUALITY = 0.8
BITRATE = 650_000
SLOW = float(os.environ.get("SLOW", "1"))
"""How many times slower everything is done than it is shown, so that a busy machine can follow."""

Frame = tuple[float, str]
"""When a picture was taken, in seconds, and the picture as PNG in Base64."""


@dataclass(frozen=True, slots=True)
class View:
    """How a page is looked at."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"] = "light"


LIGHT, DARK = View("light", 1100, 700), View("dark", 1100, 700, "dark")


@dataclass(frozen=True, slots=True)
class Scene:
    """Something worth seeing, filmed once for each view into the files TO-VIEW.*."""

    to: str
    """Below docs/, without the name of the view."""
    play: Callable[["Film"], Awaitable[None]]
    """Opens a page and uses it."""
    views: Sequence[View] = (LIGHT, DARK)


@dataclass(slots=True)
class Film:
    """A page, the person who uses it, and what has been seen of it."""

    page: Page
    view: View
    frames: list[Frame] = field(default_factory=list)
    _still: str = ""

    @asynccontextmanager
    async def rolling(self) -> AsyncIterator["Person"]:
        """Film what happens in the block."""
        cast = await self.page.context.new_cdp_session(self.page)

        async def taken(event: dict[str, Any]) -> None:
            keep(self.frames, (event["metadata"]["timestamp"] / SLOW, event["data"]))
            await cast.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

        cast.on("Page.screencastFrame", taken)
        await self.page.evaluate(SCRIPT.read_text(encoding="utf-8"))
        await cast.send("Page.startScreencast", {"format": "png"})
        yield Person(self.page)
        await cast.send("Page.stopScreencast")

    def mark_still(self) -> None:
        """Take what is seen now as the picture for readers who want none that moves."""
        self._still = self.frames[-1][1]

    async def write(self, to: Path) -> str:
        """Write TO.webp, TO.webm and TO-still.webp, and say what was written."""
        lengths = lengths_of(self.frames)
        browser = self.page.context.browser
        assert browser is not None
        page = await _encoding_page(browser)
        few = coarser(self.frames)
        size, patches = await _patches(page, few, lengths_of(few))
        film = webm(size, await _chunks(page, self.frames, lengths), sum(lengths))
        still = await page.evaluate("(args) => filmStill(...args)", [self._still or self.frames[-1][1], STILL_QUALITY])
        await page.close()
        made = {
            f"{to.name}.webp": webp(size, patches),
            f"{to.name}.webm": film,
            f"{to.name}-still.webp": b64decode(still),
        }
        for name, data in made.items():
            to.parent.mkdir(parents=True, exist_ok=True)
            to.with_name(name).write_bytes(data)
        files = ", ".join(f"{name} {len(data) / 1024:.0f} KiB" for name, data in made.items())
        took = self.frames[-1][0] - self.frames[0][0]
        return f"{files}; {len(self.frames)} frames in {took:.1f} s, shown in {sum(lengths) / 1000:.1f} s"


@asynccontextmanager
async def opened(browser: Browser, view: View) -> AsyncIterator[Film]:
    """Open an empty page that can be filmed."""
    context = await browser.new_context(viewport={"width": view.width, "height": view.height}, color_scheme=view.scheme)
    context.set_default_timeout(300_000)  # a busy machine is slow, and the tour waits for it
    yield Film(await context.new_page(), view)
    await context.close()


@dataclass(frozen=True, slots=True)
class Person:
    """Uses the page as a person whom others watch: looks, moves a pointer that can be seen, and clicks."""

    page: Page

    async def click(self, place: Locator) -> None:
        """Point and click; what moves meanwhile is followed."""
        await self.point(place)
        while not await self._is_at(place):
            await self.point(place)
        await self.page.evaluate("() => filmPress()")
        await place.click()

    async def point(self, place: Locator) -> None:
        """Move the pointer to the middle of a place, or near the beginning of a wide one."""
        await place.wait_for()
        await self.look()
        await place.scroll_into_view_if_needed()
        x, y = await _middle(place)
        await self.page.evaluate("(args) => filmPoint(...args)", [x, y])
        await self.page.mouse.move(x, y)
        await self.look()

    async def _is_at(self, place: Locator) -> bool:
        now: list[float] = await self.page.evaluate("() => filmPlace()")
        return now == [*await _middle(place)]

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.page.keyboard.type(text, delay=KEY_MS * SLOW)
        await self.look()

    async def look(self, seconds: float = THINK_MS / 1000) -> None:
        await self.page.wait_for_timeout(seconds * 1000 * SLOW)

    async def rest(self) -> None:
        """Take the pointer away."""
        await self.page.evaluate("() => filmHide()")


async def _middle(place: Locator) -> tuple[int, int]:
    box = await place.bounding_box()
    assert box is not None
    return round(box["x"] + min(box["width"] / 2, 90)), round(box["y"] + box["height"] / 2)


def keep(frames: list[Frame], frame: Frame, step: float = STEP_SECONDS) -> None:
    """Add a frame; of those within one step only the last stays, so that the end of a movement is always seen.

    A busy browser may send a frame after one that was taken later; it is left out.
    """
    if frames and frame[0] < frames[-1][0]:
        return
    if frames and frames[-1][0] // step == frame[0] // step:
        frames[-1] = frame
    else:
        frames.append(frame)


def coarser(frames: Sequence[Frame]) -> list[Frame]:
    """Return fewer frames, which show the same; pure."""
    kept: list[Frame] = []
    for frame in frames:
        keep(kept, frame, COARSE_SECONDS)
    return kept


def lengths_of(frames: Sequence[Frame]) -> list[int]:
    """Return for how many milliseconds each frame is shown; pure."""
    shown = (round((later[0] - one[0]) * 1000) for one, later in pairwise(frames))
    return [*(min(length, LONGEST_MS) for length in shown), LAST_MS]


async def _encoding_page(browser: Browser) -> Page:
    """Return a page in which pictures can be encoded; browsers encode video at secure addresses only."""
    page = await browser.new_page()
    await page.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
    await page.goto("https://encoder.invalid/")
    await page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    return page


async def _patches(page: Page, frames: Sequence[Frame], lengths: Sequence[int]) -> tuple[tuple[int, int], list[Patch]]:
    """Return the size, and what changes from frame to frame."""
    patches: list[Patch] = []
    size = (0, 0)
    for length, (_, data) in zip(lengths, frames, strict=True):
        whole, changed = await page.evaluate("(args) => filmPatch(...args)", [data, QUALITY, WORTH])
        size = (whole[0], whole[1])
        if changed is None:
            patches[-1] = replace(patches[-1], milliseconds=patches[-1].milliseconds + length)
        else:
            x, y, width, height, still = changed
            patches.append(Patch(x, y, width, height, b64decode(still), length))
    return size, patches


async def _chunks(page: Page, frames: Sequence[Frame], lengths: Sequence[int]) -> list[Chunk]:
    """Return the frames as VP9; the last is repeated at its end, so that players show it that long."""
    *starts, end = accumulate(lengths, initial=0)
    shown = [*zip(starts, (data for _, data in frames), strict=True), (end - 100, frames[-1][1])]
    for start, data in shown:
        await page.evaluate("(args) => filmFrame(...args)", [data, start, BITRATE])
    chunks = await page.evaluate("() => filmChunks()")
    return [Chunk(round(at), is_key, b64decode(data)) for at, is_key, data in chunks]
