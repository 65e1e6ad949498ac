"""Finds the browser at a debugging address."""

import re

import anyio
import httpx2

from ui_mcp.errors import UiNotEnabledError
from ui_mcp.http_client import open_client
from ui_mcp.introspection.backends.chromium.devtools import Connection, DevToolsError
from ui_mcp.introspection.backends.chromium.transports import connect_websocket
from ui_mcp.jsontypes import loads

SECONDS = 10.0
MAX_BYTES = 1024 * 1024
"""Size limit of a browser's `/json/version`."""


async def require_debugger(url: str) -> str:
    """Return the WebSocket address of the browser at a debugging address, an HTTP or WebSocket URL.

    Raises:
        UiNotEnabledError: none answers; the message says how to start a browser with a debugging port.
    """
    probe = _accepted if url.startswith("ws") else _address
    try:
        with anyio.fail_after(SECONDS):
            found = await probe(url)
    except (TimeoutError, OSError) as error:
        raise _no_browser(url, f"Nothing answers at {url}") from error
    if found is None:
        raise _no_browser(url, f"{url} answers, but is not a browser with an open debugging port")
    return found


async def _address(url: str) -> str | None:
    """Return the WebSocket address that a browser tells by HTTP.

    Raises:
        OSError: nothing answers.
    """
    try:
        # No timeout per read: the caller limits the whole exchange.
        async with open_client(limit=MAX_BYTES, timeout=None, follow_redirects=True) as client:
            answer = await client.get(f"{url.rstrip('/')}/json/version/")
            return str(loads(answer.content)["webSocketDebuggerUrl"])
    except (httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        raise ConnectionError(str(error)) from error
    except (httpx2.HTTPError, ValueError, TypeError, KeyError):
        return None


async def _accepted(url: str) -> str | None:
    connection = Connection()
    try:
        await connect_websocket(url, connection)
    except DevToolsError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from error
        return None
    connection.close()
    return url


def _no_browser(url: str, what: str) -> UiNotEnabledError:
    port = re.search(r":(\d+)", url)
    command = f"chromium --remote-debugging-port={port[1] if port else 9222} --user-data-dir=DIRECTORY"
    return UiNotEnabledError(f"{what}\nStart the browser with: {command}", reason="NO_BROWSER")
