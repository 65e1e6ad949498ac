"""The human's page of the chat: one document and its files, all from the package."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from ui_mcp.httpd.look import look_route
from ui_mcp.httpd.static import Files

FOLDER = Path(__file__).parent.parent / "bundle" / "web" / "chat"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


class ChatPage:
    """Answers `/chat` and the files below it; `welcome` may leave a cookie."""

    def __init__(
        self, inbox: Callable[[Request], Awaitable[Response]], welcome: Callable[[Request, Response], Response]
    ) -> None:
        self._inbox = inbox
        self._welcome = welcome
        self._files = Files((FOLDER,), confine=(FOLDER,))

    def routes(self) -> Sequence[Route]:
        """Return the page's paths; they go behind those of the bridge."""
        return [
            Route("/chat", self._page, methods=["GET"]),
            Route("/chat/{path:path}", self._file, methods=["GET"]),
            look_route(),
        ]

    async def _page(self, request: Request) -> Response:
        if "text/html" not in request.headers.get("accept", "text/html") and "*/*" not in request.headers["accept"]:
            return await self._inbox(request)
        index = FOLDER / "index.html"
        if not index.is_file():
            return PlainTextResponse("The chat page is missing from this installation; build it with: make web\n", 500)
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY}
        return self._welcome(request, FileResponse(index, headers=headers))

    async def _file(self, request: Request) -> Response:
        found = await self._files.find(request.path_params["path"], request.scope)
        return found or PlainTextResponse("Not found\n", 404)
