"""Finds a browser or a debugging address."""

import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from ui_mcp.errors import UiArgumentError, UiNotEnabledError
from ui_mcp.introspection.person_pages import refuse_person_pages
from ui_mcp.jsontypes import loads
from ui_mcp.workspace import BUNDLE

if TYPE_CHECKING:
    from httpx2 import AsyncClient


SECONDS = 10.0

MOST = 1024 * 1024
"""How long a browser's description of itself may be."""

_HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "aXMgYW55Ym9keSBpbj8hIQ==",
}


def complete_url(url: str) -> str:
    """Return an address that can be opened.

    Raises:
        UiArgumentError: it is none.
        UiNotEnabledError: it is the person's own page.
    """
    try:
        parts = urlsplit(url)
        whole = parts.hostname and parts.port != 0 and parts.scheme in {"http", "https", "ws", "wss"}
    except ValueError:
        whole = False
    if whole or url.startswith("file:"):
        refuse_person_pages([url])
        return url
    raise UiArgumentError(f"{url!r} is no address; write it whole, for example http://127.0.0.1:9222")


async def require_debugger(url: str) -> None:
    """Return if a browser answers at a debugging address, be it http or ws.

    Raises:
        UiNotEnabledError: nothing or something else does; the message says how to start a browser that would.
    """
    import httpx2  # takes a while, and the tools are read whenever a server starts

    from ui_mcp.http_client import open_client

    ask = _takes_sockets if url.startswith("ws") else _describes_itself
    try:
        with anyio.fail_after(SECONDS):
            async with open_client(limit=MOST, timeout=None, follow_redirects=True) as client:
                found = await ask(client, url)
    except (TimeoutError, httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        raise _refused(url, f"Nothing answers at {url}") from error
    except httpx2.HTTPError:
        found = False
    if not found:
        raise _refused(url, f"What answers at {url} is no browser with an open debugging port")


async def _describes_itself(client: "AsyncClient", url: str) -> bool:
    answer = await client.get(f"{url.rstrip('/')}/json/version/")
    try:
        return "webSocketDebuggerUrl" in loads(answer.content)
    except (ValueError, TypeError):
        return False


async def _takes_sockets(client: "AsyncClient", url: str) -> bool:
    async with client.stream("GET", f"http{url.removeprefix('ws')}", headers=_HANDSHAKE) as answer:
        return answer.status_code == 101


def _refused(url: str, what: str) -> UiNotEnabledError:
    port = re.search(r":(\d+)", url)
    command = f"chromium --remote-debugging-port={port[1] if port else 9222} --user-data-dir=DIRECTORY"
    return UiNotEnabledError(f"{what}\nStart the browser with: {command}", reason="NO_BROWSER")


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
