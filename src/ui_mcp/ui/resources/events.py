"""`ui://events`: events queued for the agent; reading does not drain them."""

from collections.abc import Sequence

from ui_mcp.errors import ResourceNotFoundError
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.events import as_array

URI = "ui://events"
JSON = "application/json"


class Events:
    """Reads the event queue of session 1, which announces its changes."""

    def __init__(self, host: UiServer) -> None:
        self._host = host

    async def resources(self, call: Call) -> Sequence[Resource]:
        return [Resource(URI, "events", "Events queued for the agent; reading does not take them.", JSON)]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return []

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        if uri != URI:
            raise ResourceNotFoundError(uri)
        return [ResourceContent(uri, JSON, as_array(self._host.running().sessions.get("1").events.texts()))]


def provide(host: UiServer, announcements: Announcements) -> Events:
    return Events(host)
