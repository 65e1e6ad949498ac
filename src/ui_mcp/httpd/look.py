"""`/look/…`: the colours and the theme switch that the chat, approvals, variables and nlui pages share."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ui_mcp.webserver.static import Files
from ui_mcp.workspace import BUNDLE

FOLDER = BUNDLE / "web"
HOME = '<a class="page-home" href="./" aria-label="Start page" title="Start page"></a>'
"""The way to the start page; look.js draws the mark into it."""


def look_route() -> Route:
    """Return the route, for listeners that do not serve the bundled files anyway."""
    files = Files((FOLDER,), confine=(FOLDER / "look",))

    async def look(request: Request) -> Response:
        found = await files.find(f"look/{request.path_params['path']}", request.scope)
        return found or PlainTextResponse("Not found\n", 404)

    return Route("/look/{path:path}", look, methods=["GET"])
