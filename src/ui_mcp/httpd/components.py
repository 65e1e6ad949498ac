"""The bundled components, for pages of the MCP port."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ui_mcp.webserver.static import Files
from ui_mcp.workspace import BUNDLE

WEB = BUNDLE / "web"


class Components:
    """Serves `/vendor/…` from the package."""

    def __init__(self) -> None:
        self._files = Files((WEB,), confine=(WEB,))

    async def get(self, request: Request) -> Response:
        """Answer with one file."""
        found = await self._files.find(f"vendor/{request.path_params['path']}", request.scope)
        return found or PlainTextResponse("Not found\n", 404)
