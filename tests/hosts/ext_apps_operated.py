"""What a person does in each of the example apps of MCP Apps, and what must then be seen."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import FrameLocator, Page, expect

_SECONDS = 30.0
_CLOCK = re.compile(r"\d\d?:\d\d:\d\d")
_UNEXPANDED = """
(canvas) => {  // the first place with blue all round it: an article of which no links are known
  const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const scale = width / canvas.clientWidth, around = Math.round(12 * scale);
  const isBlue = (x, y) => data[4 * (y * width + x) + 2] - data[4 * (y * width + x)] > 100;
  for (let y = around; y < height - around; y += 4)
    for (let x = around; x < width - around; x += 4)
      if ([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]].every(([h, v]) => isBlue(x + h * around, y + v * around)))
        return { x: x / scale, y: y / scale };
}
"""


@dataclass(frozen=True, slots=True)
class Operated:
    """One app in its frame."""

    page: Page
    app: FrameLocator

    def text(self) -> str:
        return self.app.locator("body").inner_text()

    def until(self, happened: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + _SECONDS
        while not happened():
            assert time.monotonic() < end, what
            self.page.wait_for_timeout(300)

    def redrawn(self, selector: str, act: Callable[[], object]) -> None:
        """Do something and wait until what is drawn there has changed."""
        drawn = self.app.locator(selector).first
        before = drawn.screenshot()
        act()
        self.until(lambda: drawn.screenshot() != before, f"{selector} is not drawn again")


@dataclass(frozen=True, slots=True)
class App:
    """A server from npm, the tool that opens its app, and how that is operated."""

    package: str
    tool: str
    operate: Callable[[Operated], str]
    arguments: Callable[[Path], dict[str, object]] = lambda _: {}


def _budget(one: Operated) -> str:
    slider = one.app.locator("input[type=range]").first
    value, text = slider.input_value(), one.text()
    slider.press("Home")
    one.until(lambda: one.text() != text, "the slider changes nothing")
    return f"slider from {value} to {slider.input_value()}, sums follow"


def _cohort(one: Operated) -> str:
    text = one.text()
    one.app.locator("select").first.select_option(index=1)
    one.until(lambda: one.text() != text, "another metric shows nothing else")
    return "another metric, fetched from its server"


def _monitor(one: Operated) -> str:
    def clock() -> str:
        found = _CLOCK.search(one.text())
        return found[0] if found else ""

    first = clock()
    one.until(lambda: clock() != first, "it is not polled")
    toggle = one.app.locator("#poll-toggle-btn")
    toggle.click()
    expect(toggle).to_have_text(re.compile("Start"))
    return "polled through its server, then stopped"


def _pdf(one: Operated) -> str:
    one.app.locator("#next-btn").click()
    expect(one.app.locator("#page-input")).to_have_value("2")
    one.until(lambda: "Page number 2" in one.text(), "the second page is not shown")
    return "second of three pages"


def _wiki(one: Operated) -> str:
    one.redrawn("canvas", one.app.locator("#zoom-in").click)
    canvas, expand = one.app.locator("canvas").first, one.app.locator("#expand-btn")

    def is_chosen() -> bool:  # the articles move for a while, so that one may slip away
        place = canvas.evaluate(_UNEXPANDED)
        assert place, "no article is left to be expanded"
        canvas.hover(position=place)
        one.page.wait_for_timeout(500)
        canvas.click(position=place)
        return expand.is_visible()

    one.until(is_chosen, "a click on an article shows nothing")
    one.redrawn("canvas", expand.click)
    return "zoomed, a node expanded"


def _three(one: Operated) -> str:
    one.redrawn("#threejs-canvas", lambda: None)
    return "the scene moves"


def _map(one: Operated) -> str:
    one.until(lambda: not one.app.get_by_text("Loading globe").is_visible(), "the globe does not load")
    box = one.app.locator("canvas").first.bounding_box()
    assert box is not None
    one.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    one.redrawn("canvas", lambda: one.page.mouse.wheel(0, -600))
    return "globe zoomed"


def _debug(one: Operated) -> str:
    one.app.locator("#clear-log-btn").click()
    one.app.locator("#call-debug-tool-btn").click()
    one.until(lambda: "result" in one.text().rpartition("Clear")[2], "no result of its tool")
    return "its view called its server's tool"


def _link(name: str) -> Callable[[Path], dict[str, object]]:
    return lambda place: {"url": f"file://{place / name}"}


APPS = {
    "budget": App("budget-allocator", "get-budget-data", _budget),
    "map": App(
        "map", "show-map", _map,
        lambda _: {"west": 2.2, "south": 48.8, "east": 2.45, "north": 48.9, "label": "Paris"},
    ),
    "pdf": App("pdf", "display_pdf", _pdf, _link("pages.pdf")),
    "monitor": App("system-monitor", "get-system-info", _monitor),
    "three": App("threejs", "show_threejs_scene", _three),
    "wiki": App(
        "wiki-explorer", "get-first-degree-links", _wiki, lambda _: {"url": "https://en.wikipedia.org/wiki/Start"}
    ),
    "cohort": App("cohort-heatmap", "get-cohort-data", _cohort),
    "debug": App("debug", "debug-tool", _debug),
}  # fmt: skip
