"""`ui_open_browser`: open the UI in the person's browser."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote, urlsplit

import anyio

from ui_mcp.default_browser import BrowserError, open_default_browser
from ui_mcp.errors import RefusedError
from ui_mcp.fields import Named
from ui_mcp.person import PersonKeys
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running


@dataclass(frozen=True, slots=True)
class OpenBrowserArgs:
    """What to open."""

    session_id: Annotated[str, "Session to open.", Named("sessionId")] = "1"
    path: Annotated[str, "Path inside the session."] = "/"
    conserve: Annotated[bool, "Not a second tab of the same session."] = True


@tool("ui_open_browser", OpenBrowserArgs, title="Open the browser", annotations=Annotations(destructive=False))
async def open_browser(host: UiServer, args: OpenBrowserArgs, call: Call) -> str:
    """Open the person's web browser on the session.

    When: the app is shown and no page is open. Without a browser here, the error has the URL.
    Example: {}
    """
    running = host.running()
    shown, link = addresses(running, args)
    try:
        await anyio.to_thread.run_sync(open_default_browser, link)
    except BrowserError as error:
        raise BrowserError(
            f"could not open a browser: {error.message}; open {shown} yourself\n"
            "`ui-mcp open` in a terminal shows the person a link that lets their browser in.",
            url=shown,
        ) from error
    return f"Opened {shown}"


def addresses(running: Running, args: OpenBrowserArgs) -> tuple[str, str]:
    """Return a bare address, which grants no access, and the link with a one-time code for the browser.

    Raises:
        RefusedError: the path leads out of the session.
        NotFoundError: there is no such session.
    """
    session = running.sessions.get(args.session_id)
    shared = session.vended == "1" and running.config.session.root == "shared"
    if running.person_url and shared and args.path in {"", "/"}:
        query_text = "?conserve=true" if args.conserve else ""
        return f"{running.person_url}/", f"{running.person_url}/{query_text}#code={PersonKeys().new_code()}"
    base = running.url if shared else f"{running.url}/{session.vended}"
    query = (*(("conserve=true",) if args.conserve else ()), f"code={running.mint_code(session.secret)}")
    return address(base, args.path, query[:-1]), address(base, args.path, query)


def address(base: str, path: str, query: tuple[str, ...]) -> str:
    """Build the address of `path` below `base`.

    Raises:
        RefusedError: `path` leads out of the session.
    """
    parts = urlsplit(path)
    if parts.scheme or parts.netloc or path.startswith("//") or "\\" in path or ".." in unquote(parts.path).split("/"):
        raise RefusedError(f"path must stay inside the session, not {path!r}; for example /variables")
    own = [part for part in parts.query.split("&") if part.partition("=")[0] != "conserve"]  # the argument decides
    whole = "&".join(part for part in (*own, *query) if part)
    return (
        f"{base}/{parts.path.lstrip('/')}{f'?{whole}' if whole else ''}{f'#{parts.fragment}' if parts.fragment else ''}"
    )
