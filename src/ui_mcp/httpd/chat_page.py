"""The human's page of the chat: one document and its files, all from the package."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ui_mcp.httpd.look import look_route
from ui_mcp.httpd.person_page import file_route, person_html
from ui_mcp.webserver.person_app import HtmlRoute
from ui_mcp.webserver.person_auth import PageNonces
from ui_mcp.workspace import BUNDLE

FOLDER = BUNDLE / "web" / "chat"


def chat_page_routes(inbox: Callable[[Request], Awaitable[Response]], nonces: PageNonces) -> Sequence[BaseRoute]:
    """Return the page at `/chat`, which answers programs with the inbox, and its files; they go behind the bridge."""

    async def page(request: Request) -> Response:
        return person_html(FOLDER / "index.html", nonces)

    return [
        HtmlRoute("/chat", page, methods=["GET"]),
        Route("/chat", inbox, methods=["GET"]),
        file_route("/chat", FOLDER),
        look_route(),
    ]
