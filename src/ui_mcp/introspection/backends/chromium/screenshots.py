"""Screenshots of a driven page: of its window, of the whole page or of one element."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from ui_mcp.errors import UiActionFailedError
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.jsontypes import JsonObject

MAX_SIDE = 16_000
"""Pixels of a picture of a whole page; browsers cannot draw larger ones."""
_FRAMES = "requestAnimationFrame(() => requestAnimationFrame(done))"
_FADE_MS = 500  # what moves longer than that, or for ever, is not waited for
_DRAWN = f"""new Promise((done) => {{
  setTimeout(done, 1500);
  const late = () => [...document.querySelectorAll(":not(:defined)")].some((one) => /^(ui|sl)-/.test(one.localName));
  const fading = () => document.getAnimations().some((one) => {{
    const left = Number(one.effect?.getComputedTiming().endTime) - Number(one.currentTime);
    return one.playState === "running" && left < {_FADE_MS};
  }});
  const look = () => (late() || fading() ? setTimeout(look, 16) : document.fonts.ready.then(() => {_FRAMES}));
  look();
}})"""
_RESIZED = f"new Promise((done) => {{ setTimeout(done, 500); {_FRAMES}; }})"
_SCROLLED = 'globalThis[Symbol.for("uiMcpScrolled")]'
# What scrolls inside the page, such as an app below its bar, shows all it has if the window is that much higher.
_HIDDEN = f"""({_SCROLLED} = [...document.querySelectorAll("body *")].filter((one) =>
  one.scrollHeight > one.clientHeight + 1 && one.clientWidth > innerWidth / 2 && one.clientHeight > innerHeight / 2
  && /auto|scroll/.test(getComputedStyle(one).overflowY)).map((one) => [one, one.scrollTop]),
  Math.max(0, ...{_SCROLLED}.map(([one]) => one.scrollHeight - one.clientHeight)))"""
_SCROLL_BACK = f"{_SCROLLED}?.forEach(([one, top]) => (one.scrollTop = top)), delete {_SCROLLED}"


async def take_screenshot(driven: DrivenPage, request: ScreenshotRequest) -> bytes:
    """Return a screenshot as PNG.

    Raises:
        UiActionFailedError: a native dialog hides the page.
    """
    await driven.require_allowed()
    try:
        box = await driven.call({"op": "box", "target": request.ref.json()}) if request.ref else None
        with suppress(DialogOpenError):
            # Without typefaces, half faded in, or with elements that are still being loaded, a picture misleads.
            await driven.unless_dialog(driven.tab.evaluate(_DRAWN))
        async with _unfolded(driven, request):
            png = await _capture(driven, request, box)
        await driven.require_allowed()  # again: the page may have navigated meanwhile
    except DialogOpenError as error:
        raise UiActionFailedError("A native dialog is open\nAnswer it first.", reason="BEHIND_MODAL") from error
    if not (request.ref or request.full_page or _drawing(request)):
        driven.picture = png
    return png


@asynccontextmanager
async def _unfolded(driven: DrivenPage, request: ScreenshotRequest) -> AsyncIterator[None]:
    """For a picture of the whole page, make the window high enough for what scrolls inside the page."""
    hidden = 0
    if request.full_page and not request.ref:
        hidden = int(await _evaluate(driven, _HIDDEN))
    if hidden == 0:
        yield
        return
    width, height = await _evaluate(driven, "[innerWidth, innerHeight]")
    async with driven.emulation.window(width, min(MAX_SIDE, height + hidden)):
        await _evaluate(driven, _RESIZED)
        yield
    await _evaluate(driven, _RESIZED)
    await _evaluate(driven, _SCROLL_BACK)


async def _capture(driven: DrivenPage, request: ScreenshotRequest, box: JsonObject | None) -> bytes:
    view = await _view(driven, whole=request.full_page)
    # Browsers cut pictures from the document, not from what the window shows.
    corner = {"x": 0, "y": 0} if request.full_page and not box else {"x": view["left"], "y": view["top"]}
    at = {side: corner[side] + (box[side] if box else 0) for side in corner}
    clip = {**at, "width": (box or view)["width"], "height": (box or view)["height"]}
    scale = min(1.0, request.max_width / clip["width"]) if request.max_width and clip["width"] else 1.0
    drawn = _drawing(request)
    if drawn:
        await driven.call(drawn)
    try:
        # An element or page may be larger than the window.
        beyond = request.full_page or request.ref is not None
        shot = {"format": "png", "clip": {**clip, "scale": scale}, "captureBeyondViewport": beyond}
        screenshot = driven.tab.session.send("Page.captureScreenshot", shot)
        return base64.b64decode((await driven.unless_dialog(screenshot))["data"])
    finally:
        if drawn:
            await driven.call({"op": "clear"})


def _drawing(request: ScreenshotRequest) -> JsonObject | None:
    """Return what the page script is to draw over the page."""
    if request.mark is not None:
        return {"op": "mark", "target": request.mark.json()}
    return {"op": "annotate"} if request.annotate else None


async def _view(driven: DrivenPage, *, whole: bool) -> JsonObject:
    """Return the size of the window or the whole page, and how far it is scrolled."""
    root = "document.documentElement"
    window, page = ("innerWidth", "innerHeight"), (f"{root}.scrollWidth", f"{root}.scrollHeight")
    width, height = page if whole else window
    limited = f"width: Math.min({MAX_SIDE}, {width}), height: Math.min({MAX_SIDE}, {height})"
    return dict(await _evaluate(driven, f"({{ {limited}, left: scrollX, top: scrollY }})"))


async def _evaluate(driven: DrivenPage, expression: str) -> Any:
    return await driven.unless_dialog(driven.tab.evaluate(expression))
