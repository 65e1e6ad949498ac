"""A page over a real WebSocket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from ui_mcp.http_client import open_client
from ui_mcp.testing.browser import PATIENCE, WATCH, Browser


class Socket:
    """Carries frames over a WebSocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, frame: str) -> None:
        """Send one frame."""
        await self._connection.send(frame)

    async def take(self) -> list[str]:
        """Wait for one frame."""
        try:
            return [str(await self._connection.recv(decode=True))]
        except ConnectionClosed:
            return []

    def waiting(self) -> list[str]:
        """Know of none: what is on its way has to be waited for."""
        return []


async def _visit(url: str) -> tuple[dict[str, str], str]:
    """Load a page; return the cookie it leaves, and the session it leads to."""
    async with open_client(timeout=PATIENCE, follow_redirects=True) as client:
        page = await client.get(url, headers={"Accept": "text/html"})
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    first = urlsplit(str(page.url)).path.strip("/").partition("/")[0]
    return {"Cookie": cookies} if cookies else {}, first or "1"


@asynccontextmanager
async def open_socket(url: str, *, expand: bool = True) -> AsyncIterator[Browser]:
    """Open a page on a running server as a visitor; `url` is http://HOST:PORT/, or that of a session, with a code."""
    headers, session = await _visit(url)
    parts = urlsplit(url)
    address = f"ws://{parts.netloc}/ws/{session}"
    # Frames nobody asked for yet wait without limit: at the library's own, it would stop reading and not hear the end.
    limits = {"max_size": None, "max_queue": None, "compression": None, "open_timeout": PATIENCE}
    async with connect(address, origin=f"http://{parts.netloc}", additional_headers=headers, **limits) as connection:  # type: ignore[arg-type]
        browser = Browser(Socket(connection))
        if expand:
            await browser.send(WATCH, user=False)
            await browser.until(lambda: browser.page.root)
        yield browser
