"""Finds a Chromium to start or a debugging address to connect to, and provides the page scripts."""

import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from ui_mcp.discovery import lazy
from ui_mcp.errors import UiArgumentError, UiNotEnabledError
from ui_mcp.introspection.backend import AttachRequest
from ui_mcp.introspection.person_pages import refuse_person_pages
from ui_mcp.jsontypes import loads
from ui_mcp.workspace import BUNDLE

if TYPE_CHECKING:
    from httpx2 import AsyncClient

    from ui_mcp.http_client import open_client
else:
    open_client = lazy("ui_mcp.http_client:open_client")


SECONDS = 10.0

MAX_BYTES = 1024 * 1024
"""Size limit of a browser's `/json/version`."""

_HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "aXMgYW55Ym9keSBpbj8hIQ==",  # any 16 bytes
}


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


async def require_debugger(url: str) -> None:
    """Check that a browser answers at a debugging address, an HTTP or WebSocket URL.

    Raises:
        UiNotEnabledError: none does; the message says how to start a browser with a debugging port.
    """
    import httpx2  # slow to import, and every start of a server imports this module

    probe = _accepts_websocket if url.startswith("ws") else _has_version
    try:
        with anyio.fail_after(SECONDS):
            # No timeout per read: `fail_after` limits the whole exchange.
            async with open_client(limit=MAX_BYTES, timeout=None, follow_redirects=True) as client:
                found = await probe(client, url)
    except (TimeoutError, httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        raise _no_browser(url, f"Nothing answers at {url}") from error
    except httpx2.HTTPError:
        found = False
    if not found:
        raise _no_browser(url, f"{url} answers, but is not a browser with an open debugging port")


async def _has_version(client: "AsyncClient", url: str) -> bool:
    answer = await client.get(f"{url.rstrip('/')}/json/version/")
    try:
        return "webSocketDebuggerUrl" in loads(answer.content)
    except (ValueError, TypeError):
        return False


async def _accepts_websocket(client: "AsyncClient", url: str) -> bool:
    async with client.stream("GET", f"http{url.removeprefix('ws')}", headers=_HANDSHAKE) as answer:
        return answer.status_code == 101


def _no_browser(url: str, what: str) -> UiNotEnabledError:
    port = re.search(r":(\d+)", url)
    command = f"chromium --remote-debugging-port={port[1] if port else 9222} --user-data-dir=DIRECTORY"
    return UiNotEnabledError(f"{what}\nStart the browser with: {command}", reason="NO_BROWSER")


_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "chrome")

_PATHS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def executable(configured: str | None, downloaded: str | None) -> str | None:
    """Return the browser to start: as configured, from UI_MCP_CHROMIUM, Playwright's download, or an installed one."""
    wanted = configured or os.environ.get("UI_MCP_CHROMIUM")
    if wanted:
        return wanted
    if downloaded and Path(downloaded).is_file():
        return downloaded
    found = (shutil.which(name) for name in _COMMANDS)
    return next((path for path in found if path), next((place for place in _PATHS if Path(place).is_file()), None))


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
