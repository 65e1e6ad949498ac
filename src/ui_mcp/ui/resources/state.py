"""`ui://state` and `ui://state/{sessionId}`: the live state of the displayed app."""

from collections.abc import Sequence

from ui_mcp.errors import NotFoundError, ResourceNotFoundError
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.server import UiServer

URI = "ui://state"
JSON = "application/json"


class State:
    """Reads the state of a session, which announces its changes."""

    def __init__(self, host: UiServer) -> None:
        self._host = host

    async def resources(self, call: Call) -> Sequence[Resource]:
        return [Resource(URI, "state", "Live JSON state of the displayed app, with queued events in _events.", JSON)]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return [ResourceTemplate(f"{URI}/{{sessionId}}", "state by session", "Live state of one session.", JSON)]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        if uri != URI and not uri.startswith(f"{URI}/"):
            raise ResourceNotFoundError(uri)
        sessions = self._host.running().sessions
        try:
            session = sessions.get(uri.removeprefix(URI).lstrip("/") or "1")
        except NotFoundError as error:
            raise ResourceNotFoundError(uri, error.message) from error
        return [ResourceContent(uri, JSON, await session.state_json())]


def provide(host: UiServer, announcements: Announcements) -> State:
    return State(host)
