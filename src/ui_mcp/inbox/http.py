"""`/inbox` over HTTP: the person's listener lists and answers, other listeners only tell how many wait."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.errors import InvalidArgumentsError, NotFoundError, UiMcpError
from ui_mcp.inbox.model import Decision, Question
from ui_mcp.inbox.service import OpenInbox, Reply
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.validation import InvalidDataError, read_json
from ui_mcp.webserver.person_auth import is_person
from ui_mcp.webserver.responses import STATUSES

PERSON = "human"
"""The name under which the person's answers are stored."""


@dataclass(frozen=True, slots=True)
class AnswerBody:
    """The body of an answer."""

    decision: Decision
    values: dict[str, Any] | None = None
    reason: str | None = None


async def by_person(request: Request) -> bool:
    """Return whether the person sent a request, by the listener that they are signed in to."""
    return is_person(request)


class InboxBridge:
    """Serves the questions of several stores as one list to callers that `is_allowed` recognises."""

    def __init__(
        self,
        stores: Sequence[OpenInbox],
        is_allowed: Callable[[Request], Awaitable[bool]],
        answered: Callable[[Question], None] = lambda _: None,
    ) -> None:
        self._stores = stores
        self._is_allowed = is_allowed
        self._answered = answered

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints of the person's listener."""
        return [
            Route("/inbox", self.listed, methods=["GET"]),
            Route("/inbox/{id}/answer", self.answer, methods=["POST"]),
        ]

    def reading_routes(self) -> Sequence[BaseRoute]:
        """Return the read-only endpoint, for every other listener."""
        return [Route("/inbox", self.outlined, methods=["GET"])]

    async def pending(self) -> Sequence[Question]:
        """Return the open questions of all stores, oldest first."""
        found: list[Question] = []
        for open_inbox in self._stores:
            async with open_inbox() as inbox:
                found += await inbox.pending() if inbox else ()
        return sorted(found, key=lambda one: one.created_at)

    async def listed(self, request: Request) -> Response:
        """List the open questions; with `?status=history` the settled ones, newest first."""
        if not await self._is_allowed(request):
            return _refused()
        history = request.query_params.get("status") == "history"
        rows = await self._history() if history else await self.pending()
        return JSONResponse({"questions": [row.to_json() for row in rows]})

    async def outlined(self, request: Request) -> Response:
        """List who waits, without the words: app code can read this."""
        if not await self._is_allowed(request):
            return _refused()
        return JSONResponse({"questions": [row.outline() for row in await self.pending()]})

    async def answer(self, request: Request) -> Response:
        if not await self._is_allowed(request):
            return _refused()
        try:
            given = read_json(AnswerBody, await request.body())
            reply = Reply(given.decision, PERSON, given.values, given.reason)
            settled = await self._settle(request.path_params["id"], reply)
        except InvalidDataError as error:
            return _failed(400, InvalidArgumentsError.code, str(error.problems[0]))
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return _failed(status, error.code, error.message)
        self._answered(settled)
        return JSONResponse(settled.to_json())

    async def _settle(self, question_id: str, reply: Reply) -> Question:
        for open_inbox in self._stores:
            async with open_inbox() as inbox:
                if inbox is not None and await inbox.has(question_id):
                    return await inbox.answer(question_id, reply)
        raise NotFoundError(f"No question {question_id}")

    async def _history(self) -> Sequence[Question]:
        found: list[Question] = []
        for open_inbox in self._stores:
            async with open_inbox() as inbox:
                found += await inbox.history() if inbox else ()
        return sorted(found, key=lambda one: -(one.decided_at or one.created_at))


def _refused() -> Response:
    return _failed(401, "unauthorized", "Open the page of this server, or send a bearer token")


def _failed(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message, "details": {}}}, status)
