"""/approvals: page and API."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Literal

from anyio import to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.chat.identity import Principal
from ui_mcp.errors import (
    AlreadyDecidedError,
    DigestMismatchError,
    ExpiredError,
    InvalidArgumentsError,
    NotFoundError,
    UiMcpError,
    UnknownApprovalError,
)
from ui_mcp.gateway.approvals.model import Answer, Scope, pattern_of
from ui_mcp.gateway.approvals.proposals import Proposals
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.jsontypes import JsonObject
from ui_mcp.storage.database import file_of
from ui_mcp.webserver.person_auth import NOT_IN, is_person
from ui_mcp.webserver.responses import STATUSES

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


class DecisionBody(BaseModel):
    """The body of an answer."""

    model_config = ConfigDict(extra="forbid")

    decision: Answer
    digest: str
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    scope: Scope = "once"
    pattern: dict[str, str] | None = None

    def reply(self, who: str) -> Decision:
        """Return it as the answer of a person."""
        return Decision(self.decision, self.digest, who, self.reason, self.arguments, self.scope, self.pattern)


class Decisions(BaseModel):
    """Several answers at once; each is taken, or refused, by itself."""

    model_config = ConfigDict(extra="forbid")

    decisions: list["OneOfMany"] = Field(min_length=1, max_length=200)


class OneOfMany(DecisionBody):
    """An answer with the question it is for."""

    id: str


class ProposalDecision(BaseModel):
    """The body of an answer to a proposed rule."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["accepted", "refused"]


class ApprovalPages:
    """The handlers, for one store of approvals."""

    def __init__(self, desk: ApprovalService, proposals: Proposals, replay: Replay, scrubber: SecretMasker) -> None:
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
            given = DecisionBody.model_validate_json(await request.body())
            row = await self._desk.decide(request.path_params["id"], given.reply(PERSON))
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


async def one_of_many(desk: ApprovalService, one: OneOfMany, who: str) -> JsonObject:
    """Take one answer of many; say what became of it."""
    try:
        row = await desk.decide(one.id, one.reply(who))
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


READ, DECIDE, APPROVE_POLICY = "approvals.read", "approvals.decide", "policy.approve"

_OF_THE_CLIENT = frozenset({"digest", "result"})
"""With the digest another client could fetch the result as if it had asked."""

Who = Callable[[Request], Awaitable[Principal | None]]
Desks = Callable[[], AbstractAsyncContextManager[ApprovalService | None]]


class ApprovalBridge:
    """Answers `/approvals…` for callers that `who` recognises; nothing waits where there is no store."""

    def __init__(self, desk: Desks, who: Who) -> None:
        self._desk = desk
        self._who = who

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints of the person's own listener."""
        return [
            Route("/approvals", self.listed, methods=["GET"]),
            Route("/approvals/decisions", self.decide_many, methods=["POST"]),
            Route("/approvals/proposals/{id}", self.settle, methods=["POST"]),
            Route("/approvals/{id}/decision", self.decide, methods=["POST"]),
        ]

    def reading_routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints that only read, for every other listener."""
        return [Route("/approvals", self.watched, methods=["GET"])]

    async def pending(self) -> int:
        """Count what waits for an answer."""
        async with self._desk() as desk:
            return 0 if desk is None else len(await desk.pending())

    async def watched(self, request: Request) -> Response:
        """List the same without what is the asking client's alone: its proof of being that client, and the results."""
        return await self.listed(request, without=_OF_THE_CLIENT)

    async def listed(self, request: Request, *, without: Collection[str] = ()) -> Response:
        """List what waits or was answered."""
        who = await self._who(request)
        if who is None or READ not in who.scopes:
            return _refused(who)
        async with self._desk() as desk:
            history = request.query_params.get("status") == "history"
            rows = [] if desk is None else await (desk.history() if history else desk.pending())
            proposals = [] if desk is None else await Proposals(desk.store).all()
            told = [one.to_json() for one in proposals if one.status == "pending"]
            shown = [{**row.to_json(), "covers": pattern_of(row)} for row in rows]
            kept = [{key: value for key, value in row.items() if key not in without} for row in shown]
            return JSONResponse({"approvals": kept, "proposals": told})

    async def decide(self, request: Request) -> Response:
        """Take a person's answer."""
        who = await self._who(request)
        if who is None or DECIDE not in who.scopes:
            return _refused(who)
        try:
            given = DecisionBody.model_validate_json(await request.body())
            async with self._desk() as desk:
                if desk is None:
                    raise UnknownApprovalError(f"No approval {request.path_params['id']}")
                row = await desk.decide(request.path_params["id"], given.reply(who.name))
                return JSONResponse(row.to_json())
        except ValidationError as error:
            return _approval_bridge_failed(400, "invalid_argument", error.errors(include_input=False)[0]["msg"])
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return _approval_bridge_failed(status, error.code, error.message)

    async def decide_many(self, request: Request) -> Response:
        """Take several answers, each by itself."""
        who = await self._who(request)
        if who is None or DECIDE not in who.scopes:
            return _refused(who)
        try:
            given = Decisions.model_validate_json(await request.body())
        except ValidationError as error:
            return _approval_bridge_failed(400, "invalid_argument", error.errors(include_input=False)[0]["msg"])
        async with self._desk() as desk:
            if desk is None:
                return _approval_bridge_failed(404, "unknown_approval", "Nothing waits here")
            return JSONResponse({"results": [await one_of_many(desk, one, who.name) for one in given.decisions]})

    async def settle(self, request: Request) -> Response:
        """Accept or refuse a proposed rule; gateways notice by themselves."""
        who = await self._who(request)
        if who is None or APPROVE_POLICY not in who.scopes:
            return _refused(who)
        try:
            given = ProposalDecision.model_validate_json(await request.body())
            async with self._desk() as desk:
                if desk is None:
                    raise NotFoundError(f"No pending proposal {request.path_params['id']}")
                settled = await Proposals(desk.store).settle(request.path_params["id"], given.decision, who.name)
                return JSONResponse(settled.to_json())
        except ValidationError as error:
            return _approval_bridge_failed(400, "invalid_argument", error.errors(include_input=False)[0]["msg"])
        except NotFoundError as error:
            return _approval_bridge_failed(404, error.code, error.message)


def desks_at(place: Callable[[], str | None]) -> Desks:
    """Open the store at a place for the length of a request; a file that is not there yet is not made."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[ApprovalService | None]:
        where = place()
        if where is None or (("://" not in where or where.startswith("sqlite:")) and not file_of(where).is_file()):
            yield None
            return
        store = await to_thread.run_sync(open_store, where)  # a database far away may keep us waiting
        try:
            yield ApprovalService(store)
        finally:
            store.close()

    return opened


def _refused(who: Principal | None) -> Response:
    if who is None:
        return _approval_bridge_failed(401, "unauthorized", "Open the page of this server, or send a bearer token")
    return _approval_bridge_failed(403, "forbidden", f"{who.name} may not do this")


def _approval_bridge_failed(status: int, code: str, message: str) -> Response:
    details: JsonObject = {}
    return JSONResponse({"error": {"code": code, "message": message, "details": details}}, status)
