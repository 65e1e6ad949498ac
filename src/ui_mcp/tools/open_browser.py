"""`ui_open_browser`: show the UI to the person."""

import subprocess
import sys
from urllib.parse import urlsplit

import anyio
from pydantic import Field

from ui_mcp.errors import RefusedError, UiMcpError
from ui_mcp.host.host import Host
from ui_mcp.toolkit.functions import Args, tool
from ui_mcp.toolkit.tool import Annotations, Call

OPENERS = {"darwin": ["open"], "win32": ["cmd", "/c", "start", ""]}


class OpenBrowserArgs(Args):
    """What to open."""

    session_id: str = Field(default="1", alias="sessionId", description="Session to open.")
    path: str = Field(default="/", description="Path inside the session.")
    conserve: bool = Field(
        default=True,
        description="Point the person to a tab that already shows the session instead of opening a second one.",
    )


class BrowserError(UiMcpError):
    """No browser could be opened."""

    code = "browser"


@tool("ui_open_browser", OpenBrowserArgs, title="Open the browser", annotations=Annotations(destructive=False))
async def open_browser(host: Host, args: OpenBrowserArgs, call: Call) -> str:
    """Open the person's default web browser on a session.

    With `conserve` (the default) a session that is already open in a tab is not opened twice: the new tab says so
    and the person gets a notification. Answers "Opened URL"; if there is no browser here, the error has the URL to
    hand over.
    """
    running = host.running()
    url = session_url(running.url, running.sessions.get(args.session_id).secret, args.path, conserve=args.conserve)
    try:
        await _open(url)
    except OSError as error:
        raise BrowserError(f"could not open a browser: {error}; open {url} yourself", url=url) from error
    return f"Opened {url}"


def session_url(base: str, secret: str, path: str, *, conserve: bool) -> str:
    """Build the address of `path` inside a session.

    Raises:
        RefusedError: `path` leads to another server.
    """
    parts = urlsplit(path)
    if parts.scheme or parts.netloc or path.startswith("//") or "\\" in path:
        raise RefusedError(f"path must stay inside the session, not {path!r}; for example /variables")
    query = "&".join(part for part in (parts.query, "conserve=true" if conserve else "") if part)
    return (
        f"{base}/{secret}/{parts.path.lstrip('/')}"
        f"{f'?{query}' if query else ''}{f'#{parts.fragment}' if parts.fragment else ''}"
    )


async def _open(url: str) -> None:
    await anyio.to_thread.run_sync(_launch, [*OPENERS.get(sys.platform, ["xdg-open"]), url])


def _launch(command: list[str]) -> None:
    opener = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = opener.wait(timeout=2)
    except subprocess.TimeoutExpired:
        # Some openers stay until the browser is closed: still running means it worked.
        return
    if code:
        raise OSError(f"{command[0]} ended with code {code}")
