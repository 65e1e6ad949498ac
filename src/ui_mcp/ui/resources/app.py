"""`ui://app/main.html`: the page that MCP hosts show inline."""

from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from ui_mcp.errors import ResourceNotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.workspace import BUNDLE

URI = "ui://app/main.html"
MIME = "text/html;profile=mcp-app"
PAGE = BUNDLE / "web" / "app" / "main.html"


class AppPage:
    """Serves one self-contained document; hosts find it through tool metadata, so it is not listed."""

    def __init__(self, host: UiServer) -> None:
        self._host = host

    async def resources(self, call: Call) -> Sequence[Resource]:
        return []

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return []

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Return the page, with the addresses that it needs to connect to."""
        if uri != URI or not PAGE.is_file():
            raise ResourceNotFoundError(uri)
        html = await to_thread.run_sync(Path.read_text, PAGE, "utf-8")
        return [ResourceContent(URI, MIME, html, meta={"ui": self._ui_metadata()})]

    def _ui_metadata(self) -> JsonObject:
        metadata: JsonObject = {"prefersBorder": True}
        if isinstance(self._host.state, Running):
            url = self._host.state.url
            metadata["csp"] = {"connectDomains": [url.replace("http", "ws", 1), url]}
        return metadata


def provide(host: UiServer, announcements: Announcements) -> AppPage:
    return AppPage(host)
