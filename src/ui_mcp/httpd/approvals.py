"""`/approvals`: where a person sees the calls that wait, and answers them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.compositor.approvals.desk import Desk, Reply
from ui_mcp.compositor.approvals.row import (
    AlreadyDecidedError,
    Answer,
    DigestMismatchError,
    ExpiredError,
    Scope,
    UnknownApprovalError,
)
from ui_mcp.compositor.approvals.scope import pattern_of
from ui_mcp.compositor.proposals import Proposals
from ui_mcp.compositor.redact import Scrubber
from ui_mcp.compositor.settings import Rule
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, UiMcpError
from ui_mcp.httpd.look import look_route
from ui_mcp.ids import same_secret, secret_id
from ui_mcp.jsontypes import JsonObject

PAGE = Path(__file__).parent / "approvals.html"
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


class Visitors:
    """People are told from programs by a cookie that only opening the page gives."""

    def __init__(self) -> None:
        self._secret = secret_id()

    def __call__(self, request: HTTPConnection) -> str | None:
        """Name the visitor."""
        given = request.cookies.get(self._name(request), "")
        return "human" if same_secret(given, self._secret) else None

    def welcome(self, request: Request, response: Response) -> Response:
        """Remember the visitor."""
        response.set_cookie(self._name(request), self._secret, path="/", samesite="strict", httponly=True)
        return response

    @staticmethod
    def _name(request: HTTPConnection) -> str:
        # Cookies are shared by the ports of a host, so the port is part of the name.
        server = request.scope.get("server") or ("", 0)
        return f"nlui-human-{server[1]}"


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

    def __init__(
        self, desk: Desk, proposals: Proposals, replay: Replay, scrubber: Scrubber, visitors: Visitors
    ) -> None:
        self._desk = desk
        self._replay = replay
        self._proposals = proposals
        self._scrubber = scrubber
        self._human = visitors

    def routes(self) -> Routes:
        """Return the routes."""
        return [
            Route("/approvals", self.show, methods=["GET"]),
            Route("/approvals/decisions", self.decide_many, methods=["POST"]),
            Route("/approvals/proposals/{id}", self.settle, methods=["POST"]),
            Route("/approvals/{id}", self.one, methods=["GET"]),
            Route("/approvals/{id}/decision", self.decide, methods=["POST"]),
            look_route(),
        ]

    async def show(self, request: Request) -> Response:
        """Answer with the page, or with JSON to who asks for it."""
        if "text/html" in request.headers.get("accept", ""):
            return self._human.welcome(request, approvals_page())
        if self._human(request) is None:
            return _refused()
        history = request.query_params.get("status") == "history"
        rows = await self._desk.history() if history else await self._desk.pending()
        shown = [{**row.to_json(self._scrubber), "covers": pattern_of(row)} for row in rows]
        proposals = [one for one in await self._proposals.all() if one.status == "pending"]
        told = [{**one.to_json(), "replay": await self._replay(one.rule)} for one in proposals]
        return JSONResponse({"approvals": shown, "proposals": told})

    async def one(self, request: Request) -> Response:
        """Answer with one approval."""
        if self._human(request) is None:
            return _refused()
        try:
            return JSONResponse((await self._desk.get(request.path_params["id"])).to_json(self._scrubber))
        except UiMcpError as error:
            return _failed(error)

    async def decide(self, request: Request) -> Response:
        """Take an answer."""
        who = self._human(request)
        if who is None:
            return _refused()
        try:
            given = Decision.model_validate_json(await request.body())
            row = await self._desk.answer(request.path_params["id"], given.reply(who))
        except ValidationError as error:
            return _invalid(error)
        except UiMcpError as error:
            return _failed(error)
        return JSONResponse(row.to_json(self._scrubber))

    async def decide_many(self, request: Request) -> Response:
        """Take several answers, one by one; one that fails does not stop the others."""
        who = self._human(request)
        if who is None:
            return _refused()
        try:
            given = Decisions.model_validate_json(await request.body())
        except ValidationError as error:
            return _invalid(error)
        return JSONResponse({"results": [await one_of_many(self._desk, one, who) for one in given.decisions]})

    async def settle(self, request: Request) -> Response:
        """Accept or refuse a proposed rule."""
        who = self._human(request)
        if who is None:
            return _refused()
        try:
            given = ProposalDecision.model_validate_json(await request.body())
            settled = await self._proposals.settle(request.path_params["id"], given.decision, who)
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


def approvals_page() -> Response:
    """Return the page; it holds nothing secret and asks for the rest."""
    nonce = token_urlsafe(16)
    page = HTMLResponse(PAGE.read_text(encoding="utf-8").replace("{{nonce}}", nonce))
    page.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'self' 'nonce-{nonce}'; script-src 'nonce-{nonce}'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    return page


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


def _refused() -> Response:
    return _json_error(403, "forbidden", "Only a person may see and answer approvals; open /approvals in a browser")


def _json_error(status: int, code: str, message: str, details: dict[str, object] | None = None) -> Response:
    return JSONResponse({"error": {"code": code, "message": message, "details": details or {}}}, status)
