"""Finds a Chromium on this machine and the script that gives pages eyes and hands."""

import os
import shutil
from functools import cache
from pathlib import Path

from ui_mcp.errors import UiNotEnabledError
from ui_mcp.workspace import BUNDLE

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "chrome")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def executable(configured: str | None, downloaded: str | None) -> str | None:
    """Return the browser to start: the configured one, UI_MCP_CHROMIUM's, Playwright's own, else the machine's."""
    wanted = configured or os.environ.get("UI_MCP_CHROMIUM")
    if wanted:
        return wanted
    if downloaded and Path(downloaded).is_file():
        return downloaded
    found = (shutil.which(name) for name in _NAMES)
    return next((path for path in found if path), next((place for place in _PLACES if Path(place).is_file()), None))


@cache
def script() -> str:
    """Return the built in-page script.

    Raises:
        UiNotEnabledError: this installation was made without it.
    """
    file = BUNDLE / "web" / "introspect" / "introspect.js"
    if not file.is_file():
        raise UiNotEnabledError("The page script is missing\nRun `make web` in a clone.", reason="NOT_BUILT")
    return file.read_text(encoding="utf-8")


def open_closed_shadows() -> str:
    """Return a page script that lets us see closed shadow roots while the page itself still cannot."""
    return """(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    const root = attach.call(this, { ...init, mode: "open" });
    if (init?.mode === "closed") Object.defineProperty(this, "shadowRoot", { value: null, configurable: true });
    return root;
  };
})()"""
