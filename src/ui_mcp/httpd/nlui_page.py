"""The chat page of `nlui`: one document and its files, all from the package."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ui_mcp.httpd.person_page import file_route, person_html
from ui_mcp.webserver.person_auth import PageNonces
from ui_mcp.workspace import BUNDLE

FOLDER = BUNDLE / "web" / "nlui"


def page_routes(nonces: PageNonces) -> Sequence[BaseRoute]:
    """Return the page at `/` and its files."""

    async def page(request: Request) -> Response:
        return person_html(FOLDER / "index.html", nonces)

    return [Route("/", page, methods=["GET"]), file_route("/nlui", FOLDER)]
