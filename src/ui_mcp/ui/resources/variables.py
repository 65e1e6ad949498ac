"""`ui://variables`: every variable that the open pages are bound to."""

from collections.abc import Sequence

from ui_mcp.errors import ResourceNotFoundError
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.server import UiServer

URI = "ui://variables"
JSON = "application/json"


class Variables:
    """Reads the variables of session 1, which announces their changes."""

    def __init__(self, host: UiServer) -> None:
        self._host = host

    async def resources(self, call: Call) -> Sequence[Resource]:
        return [Resource(URI, "variables", "Every tracked variable with path, value and type, parents first.", JSON)]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return []

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        if uri != URI:
            raise ResourceNotFoundError(uri)
        return [ResourceContent(uri, JSON, await self._host.running().sessions.get("1").variables_json())]


def provide(host: UiServer, announcements: Announcements) -> Variables:
    return Variables(host)
