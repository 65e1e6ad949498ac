"""Approvals on the ui server's listeners: what agents of other processes ask, and the person's answers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from anyio import to_thread
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.chat.identity import Principal
from ui_mcp.compositor.approvals.scope import pattern_of
from ui_mcp.errors import NotFoundError, UiMcpError, UnknownApprovalError
from ui_mcp.gateway.approvals.http import Decision, Decisions, ProposalDecision, one_of_many
from ui_mcp.gateway.approvals.proposals import Proposals
from ui_mcp.gateway.approvals.service import Desk
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.jsontypes import JsonObject
from ui_mcp.storage.database import file_of
from ui_mcp.webserver.responses import STATUSES

READ, DECIDE, APPROVE_POLICY = "approvals.read", "approvals.decide", "policy.approve"
_OF_THE_CLIENT = frozenset({"digest", "result"})
"""With the digest another client could fetch the result as if it had asked."""
Who = Callable[[Request], Awaitable[Principal | None]]
Desks = Callable[[], AbstractAsyncContextManager[Desk | None]]


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
            given = Decision.model_validate_json(await request.body())
            async with self._desk() as desk:
                if desk is None:
                    raise UnknownApprovalError(f"No approval {request.path_params['id']}")
                row = await desk.answer(request.path_params["id"], given.reply(who.name))
                return JSONResponse(row.to_json())
        except ValidationError as error:
            return _failed(400, "invalid_argument", error.errors(include_input=False)[0]["msg"])
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return _failed(status, error.code, error.message)

    async def decide_many(self, request: Request) -> Response:
        """Take several answers, each by itself."""
        who = await self._who(request)
        if who is None or DECIDE not in who.scopes:
            return _refused(who)
        try:
            given = Decisions.model_validate_json(await request.body())
        except ValidationError as error:
            return _failed(400, "invalid_argument", error.errors(include_input=False)[0]["msg"])
        async with self._desk() as desk:
            if desk is None:
                return _failed(404, "unknown_approval", "Nothing waits here")
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
            return _failed(400, "invalid_argument", error.errors(include_input=False)[0]["msg"])
        except NotFoundError as error:
            return _failed(404, error.code, error.message)


def desks_at(place: Callable[[], str | None]) -> Desks:
    """Open the store at a place for the length of a request; a file that is not there yet is not made."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Desk | None]:
        where = place()
        if where is None or (("://" not in where or where.startswith("sqlite:")) and not file_of(where).is_file()):
            yield None
            return
        store = await to_thread.run_sync(open_store, where)  # a database far away may keep us waiting
        try:
            yield Desk(store)
        finally:
            store.close()

    return opened


def _refused(who: Principal | None) -> Response:
    if who is None:
        return _failed(401, "unauthorized", "Open the page of this server, or send a bearer token")
    return _failed(403, "forbidden", f"{who.name} may not do this")


def _failed(status: int, code: str, message: str) -> Response:
    details: JsonObject = {}
    return JSONResponse({"error": {"code": code, "message": message, "details": details}}, status)
