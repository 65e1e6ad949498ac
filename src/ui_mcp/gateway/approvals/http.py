"""`/approvals` of a gateway: where the person sees the calls that wait, and answers them."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.compositor.approvals.scope import pattern_of
from ui_mcp.errors import (
    AlreadyDecidedError,
    DigestMismatchError,
    ExpiredError,
    InvalidArgumentsError,
    NotFoundError,
    UiMcpError,
    UnknownApprovalError,
)
from ui_mcp.gateway.approvals.model import Answer, Scope
from ui_mcp.gateway.approvals.proposals import Proposals
from ui_mcp.gateway.approvals.service import Desk, Reply
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.gateway.sanitize import Scrubber
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.person_auth import NOT_IN, is_person

PERSON = "human"
"""How an answer of the person is signed."""
_STATUS: dict[type[UiMcpError], int] = {
    AlreadyDecidedError: 409,
    DigestMismatchError: 412,
    ExpiredError: 410,
    UnknownApprovalError: 404,
    NotFoundError: 404,
    InvalidArgumentsError: 400,
}
Routes = list[BaseRoute]
Replay = Callable[[Rule], Awaitable[JsonObject]]
"""Says what a proposed rule would have done with the calls of the past."""


class Decision(BaseModel):
    """The body of an answer."""

    model_config = ConfigDict(extra="forbid")

    decision: Answer
    digest: str
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    scope: Scope = "once"
    pattern: dict[str, str] | None = None

    def reply(self, who: str) -> Reply:
        """Return it as the answer of a person."""
        return Reply(self.decision, self.digest, who, self.reason, self.arguments, self.scope, self.pattern)


class Decisions(BaseModel):
    """Several answers at once; each is taken, or refused, by itself."""

    model_config = ConfigDict(extra="forbid")

    decisions: list["OneOfMany"] = Field(min_length=1, max_length=200)


class OneOfMany(Decision):
    """An answer with the question it is for."""

    id: str


class ProposalDecision(BaseModel):
    """The body of an answer to a proposed rule."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["accepted", "refused"]


class ApprovalPages:
    """The handlers, for one store of approvals."""

    def __init__(self, desk: Desk, proposals: Proposals, replay: Replay, scrubber: Scrubber) -> None:
        self._desk = desk
        self._replay = replay
        self._proposals = proposals
        self._scrubber = scrubber

    def routes(self) -> Routes:
        """Return the routes."""
        return [
            Route("/approvals", self.show, methods=["GET"]),
            Route("/approvals/decisions", self.decide_many, methods=["POST"]),
            Route("/approvals/proposals/{id}", self.settle, methods=["POST"]),
            Route("/approvals/{id}", self.one, methods=["GET"]),
            Route("/approvals/{id}/decision", self.decide, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Answer with what waits, or with what was answered."""
        if not is_person(request):
            return NOT_IN.response()
        history = request.query_params.get("status") == "history"
        rows = await self._desk.history() if history else await self._desk.pending()
        shown = [{**row.to_json(self._scrubber), "covers": pattern_of(row)} for row in rows]
        proposals = [one for one in await self._proposals.all() if one.status == "pending"]
        told = [{**one.to_json(), "replay": await self._replay(one.rule)} for one in proposals]
        return JSONResponse({"approvals": shown, "proposals": told})

    async def one(self, request: Request) -> Response:
        """Answer with one approval."""
        if not is_person(request):
            return NOT_IN.response()
        try:
            return JSONResponse((await self._desk.get(request.path_params["id"])).to_json(self._scrubber))
        except UiMcpError as error:
            return _failed(error)

    async def decide(self, request: Request) -> Response:
        """Take an answer."""
        if not is_person(request):
            return NOT_IN.response()
        try:
            given = Decision.model_validate_json(await request.body())
            row = await self._desk.answer(request.path_params["id"], given.reply(PERSON))
        except ValidationError as error:
            return _invalid(error)
        except UiMcpError as error:
            return _failed(error)
        return JSONResponse(row.to_json(self._scrubber))

    async def decide_many(self, request: Request) -> Response:
        """Take several answers, one by one; one that fails does not stop the others."""
        if not is_person(request):
            return NOT_IN.response()
        try:
            given = Decisions.model_validate_json(await request.body())
        except ValidationError as error:
            return _invalid(error)
        return JSONResponse({"results": [await one_of_many(self._desk, one, PERSON) for one in given.decisions]})

    async def settle(self, request: Request) -> Response:
        """Accept or refuse a proposed rule."""
        if not is_person(request):
            return NOT_IN.response()
        try:
            given = ProposalDecision.model_validate_json(await request.body())
            settled = await self._proposals.settle(request.path_params["id"], given.decision, PERSON)
            if self._desk.on_rule is not None:
                await self._desk.on_rule()
        except ValidationError as error:
            return _invalid(error)
        except UiMcpError as error:
            return _failed(error)
        return JSONResponse(settled.to_json())


async def one_of_many(desk: Desk, one: OneOfMany, who: str) -> JsonObject:
    """Take one answer of many; say what became of it."""
    try:
        row = await desk.answer(one.id, one.reply(who))
    except UiMcpError as error:
        return {"id": one.id, "error": {"code": error.code, "message": error.message}}
    return {"id": one.id, "status": row.status, "decision": row.decision}


def health_route(describe: Callable[[], JsonObject]) -> BaseRoute:
    """Return `/api/health`."""

    async def health(request: Request) -> Response:
        return JSONResponse(describe())

    return Route("/api/health", health)


def _failed(error: UiMcpError) -> Response:
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    return _json_error(status, error.code, error.message, error.details)


def _invalid(error: ValidationError) -> Response:
    problem = error.errors(include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return _json_error(400, "invalid_argument", f"{where}: {problem['msg']}")


def _json_error(status: int, code: str, message: str, details: dict[str, object] | None = None) -> Response:
    return JSONResponse({"error": {"code": code, "message": message, "details": details or {}}}, status)
