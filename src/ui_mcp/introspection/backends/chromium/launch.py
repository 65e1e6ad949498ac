"""Finds a browser to start, checks URLs of pages, and provides the page scripts."""

import itertools
import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from ui_mcp.errors import UiArgumentError, UiNotEnabledError
from ui_mcp.introspection.backend import AttachRequest
from ui_mcp.introspection.person_pages import refuse_person_pages
from ui_mcp.workspace import BUNDLE

NO_BROWSER_HINT = "Install Chrome, Chromium or Edge, or set UI_MCP_CHROMIUM to the path of one."


def complete_url(url: str) -> str:
    """Return `url` if it is complete and allowed.

    Raises:
        UiArgumentError: it has no scheme or host.
        UiNotEnabledError: it is the person's own page.
    """
    try:
        parts = urlsplit(url)
        complete = parts.hostname and parts.port != 0 and parts.scheme in {"http", "https", "ws", "wss"}
    except ValueError:
        complete = False
    if complete or url.startswith("file:"):
        refuse_person_pages([url])
        return url
    raise UiArgumentError(f"{url!r} is not a complete URL; write it in full, for example http://127.0.0.1:9222")


def requested_url(request: AttachRequest) -> str:
    """Return the complete URL that was given.

    Raises:
        UiArgumentError: none was given, or it is not complete.
        UiNotEnabledError: it is the person's own page.
    """
    if not request.url:
        raise UiArgumentError(f"kind {request.kind!r} needs an address: url or cdp")
    return complete_url(request.url)


_COMMANDS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "microsoft-edge-stable",
    "chrome", "msedge", "brave-browser",
)  # fmt: skip

_PATHS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/snap/bin/chromium",
    *(
        rf"{folder}\{program}"
        for folder in (r"C:\Program Files", r"C:\Program Files (x86)", rf"{os.environ.get('LOCALAPPDATA', '')}")
        for program in (r"Google\Chrome\Application\chrome.exe", r"Microsoft\Edge\Application\msedge.exe")
    ),
)

_DOWNLOADED = (
    "ms-playwright/chromium-*/chrome-linux*/chrome",
    "ms-playwright/chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "ms-playwright/chromium-*/chrome-win*/chrome.exe",
    "puppeteer/chrome/*/chrome-*/chrome",
    "puppeteer/chrome/*/chrome-*/*.app/Contents/MacOS/*",
    "puppeteer/chrome/*/chrome-*/chrome.exe",
)
"""Browsers that developers' tools have downloaded."""


def executable(configured: str | None) -> str | None:
    """Return the browser to start: as configured, from UI_MCP_CHROMIUM, an installed one, or a tool's download."""
    wanted = configured or os.environ.get("UI_MCP_CHROMIUM")
    if wanted:
        return wanted
    found = (shutil.which(name) for name in _COMMANDS)
    places = (place for place in _PATHS if Path(place).is_file())
    return next((path for path in itertools.chain(found, places, _downloaded()) if path), None)


def _downloaded() -> Iterator[str]:
    home = Path.home()
    local = {"darwin": home / "Library/Caches", "win32": Path(os.environ.get("LOCALAPPDATA", home))}
    caches = {local.get(sys.platform, home / ".cache"), home / ".cache"}
    found = (path for folder in caches for pattern in _DOWNLOADED for path in folder.glob(pattern))
    yield from (str(path) for path in found if os.access(path, os.X_OK))


def require_executable(configured: str | None) -> str:
    """Return the browser to start.

    Raises:
        UiNotEnabledError: none is installed.
    """
    found = executable(configured)
    if found is None:
        raise UiNotEnabledError(f"No browser found\n{NO_BROWSER_HINT}", reason="NO_BROWSER")
    return found


@cache
def script() -> str:
    """Return the introspection script that runs in pages.

    Raises:
        UiNotEnabledError: it is not part of this installation.
    """
    file = BUNDLE / "web" / "introspect" / "introspect.js"
    if not file.is_file():
        raise UiNotEnabledError("The page script is missing\nRun `make web` in a clone.", reason="NOT_BUILT")
    return file.read_text(encoding="utf-8")


def open_closed_shadows() -> str:
    """Return a page script that opens closed shadow roots for us and keeps them closed for the page."""
    return """(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    const root = attach.call(this, { ...init, mode: "open" });
    if (init?.mode === "closed") Object.defineProperty(this, "shadowRoot", { value: null, configurable: true });
    return root;
  };
})()"""


def listening_elements() -> str:
    """Return an expression for the number of elements and the positions of those whose clicks scripts listen to.

    `getEventListeners` is the debugger's, and tells about the page's own listeners in the page's own context only.
    """
    return """(() => {
  const all = document.querySelectorAll("*"), found = [];
  for (let at = 0; at < all.length; at++) {
    const heard = getEventListeners(all[at]);
    if (heard.click || heard.dblclick || heard.mousedown || heard.pointerdown) found.push(at);
  }
  return [all.length, found];
})()"""


def offer_model_context() -> str:
    """Return a page script that offers WebMCP where pages looked for it before it moved to the document."""
    return """if (!("modelContext" in navigator) && "modelContext" in document) {
  Object.defineProperty(navigator, "modelContext", { get: () => document.modelContext, configurable: true });
}"""
