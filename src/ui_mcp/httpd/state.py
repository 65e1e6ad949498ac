"""`GET /state`: the app's state as JSON, the same document as `ui://state`."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from ui_mcp.ui.sessions.session import Session

JSON = "application/json"


class State:
    """Answers with the state of a session; an unknown session is the application's 404."""

    def __init__(self, find: Callable[[str], Session]) -> None:
        self._find = find

    async def get(self, request: Request) -> Response:
        """Answer one request."""
        session = self._find(request.query_params.get("sessionId", "1"))
        return Response(await session.state_json(), media_type=JSON)
