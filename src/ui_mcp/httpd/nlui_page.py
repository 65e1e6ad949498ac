"""The chat page of `nlui`: one document and its files, all from the package."""

from collections.abc import Callable, Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.httpd.chat_page import POLICY
from ui_mcp.httpd.error_page import not_found
from ui_mcp.httpd.static import Files

FOLDER = Path(__file__).parent.parent / "bundle" / "web" / "nlui"


Welcome = Callable[[Request, Response], Response]
"""Leaves a cookie with who opens the page."""


def page_routes(welcome: Welcome = lambda _, response: response) -> Sequence[BaseRoute]:
    """Return the page at `/` and its files."""
    files = Files((FOLDER,), confine=(FOLDER,))

    async def page(request: Request) -> Response:
        index = FOLDER / "index.html"
        if not index.is_file():
            return PlainTextResponse("The page is missing from this installation; build it with: make web\n", 500)
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY}
        return welcome(request, FileResponse(index, headers=headers))

    async def file(request: Request) -> Response:
        found = await files.find(request.path_params["path"], request.scope)
        return found or not_found(request)

    return [Route("/", page, methods=["GET"]), Route("/nlui/{path:path}", file, methods=["GET"])]
