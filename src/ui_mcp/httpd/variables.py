"""`/variables` and `/variables.json`: every variable of a session, for people and for programs."""

from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ui_mcp.ui.sessions.session import Session

PAGE = Path(__file__).with_name("variables.html")
MARK = "{{home}}"
Welcome = Callable[[Request, Response], Response]


class Variables:
    """Serves the variable browser and its data.

    `home` leads to the start page where there is one, `welcome` makes a visitor known whose first page this is, and
    `is_start` says which session's address is as good as none.
    """

    def __init__(
        self,
        find: Callable[[Request], Session],
        home: str = "",
        welcome: Welcome | None = None,
        is_start: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._find = find
        self._home = home
        self._welcome = welcome
        self._is_start = is_start

    async def json(self, request: Request) -> Response:
        """Answer with the array of `ui://variables`."""
        return Response(await self._find(request).variables_json(), media_type="application/json")

    async def page(self, request: Request) -> Response:
        """Answer with the page, or with the data if that is what the client accepts."""
        if "application/json" in request.headers.get("accept", ""):
            return await self.json(request)
        page = HTMLResponse(PAGE.read_text(encoding="utf-8").replace(MARK, self._home))
        given = request.path_params.get("session")
        if self._welcome and (given is None or self._is_start(given)):
            return self._welcome(request, page)
        self._find(request)
        return page
