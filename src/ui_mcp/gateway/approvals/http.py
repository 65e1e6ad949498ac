"""HTTP API of approvals: for the gateway's own person listener, and for the listeners of the UI server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from anyio import to_thread
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
from ui_mcp.fields import Length
from ui_mcp.gateway.approvals.model import Answer, Scope
from ui_mcp.gateway.approvals.proposals import Proposals
from ui_mcp.gateway.approvals.rules import pattern_of
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.config.settings import Rule
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.jsontypes import JsonObject
from ui_mcp.storage.database import file_of
from ui_mcp.validation import InvalidDataError, read_json
from ui_mcp.version import bundled_version
from ui_mcp.webserver.person_app import (
    PERSON_FOLDER,
    Describe,
    HtmlRoute,
    PersonSite,
    entry_routes,
    file_route,
    person_app,
    person_html,
    person_page,
)
from ui_mcp.webserver.person_auth import NOT_IN, Access, is_person
from ui_mcp.webserver.responses import STATUSES
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import App
from ui_mcp.webserver.static import shared_style_route

PERSON = "human"

"""The name under which the person's answers are stored."""


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

"""Returns what a proposed rule would have decided about past calls."""


@dataclass(frozen=True, slots=True)
class DecisionBody:
    """The body of an answer."""

    decision: Answer
    digest: str
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    scope: Scope = "once"
    pattern: dict[str, str] | None = None

    def to_decision(self, by: str) -> Decision:
        return Decision(self.decision, self.digest, by, self.reason, self.arguments, self.scope, self.pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOfMany(DecisionBody):
    """An answer with the question it is for."""

    id: str


@dataclass(frozen=True, slots=True)
class Decisions:
    """Several answers at once; each is taken, or refused, by itself."""

    decisions: Annotated[list[OneOfMany], Length(1, 200)]


@dataclass(frozen=True, slots=True)
class ProposalDecision:
    """The body of an answer to a proposed rule."""

    decision: Literal["accepted", "refused"]


class ApprovalPages:
    """Handlers for one gateway; every one of them is for the person only."""

    def __init__(self, approvals: ApprovalService, proposals: Proposals, replay: Replay, masker: SecretMasker) -> None:
        self._approvals = approvals
        self._replay = replay
        self._proposals = proposals
        self._masker = masker

    def routes(self) -> Routes:
        return [
            Route("/approvals", self.show, methods=["GET"]),
            Route("/approvals/decisions", self.decide_many, methods=["POST"]),
            Route("/approvals/proposals/{id}", self.settle, methods=["POST"]),
            Route("/approvals/{id}", self.one, methods=["GET"]),
            Route("/approvals/{id}/decision", self.decide, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """List pending approvals and proposals; with `?status=history` the answered approvals."""
        if not is_person(request):
            return NOT_IN.response()
        history = request.query_params.get("status") == "history"
        rows = await self._approvals.history() if history else await self._approvals.pending()
        shown = [{**row.to_json(self._masker), "covers": pattern_of(row)} for row in rows]
        proposals = [one for one in await self._proposals.all() if one.status == "pending"]
        pending = [{**one.to_json(), "replay": await self._replay(one.rule)} for one in proposals]
        return JSONResponse({"approvals": shown, "proposals": pending})

    async def one(self, request: Request) -> Response:
        if not is_person(request):
            return NOT_IN.response()
        try:
            return JSONResponse((await self._approvals.get(request.path_params["id"])).to_json(self._masker))
        except UiMcpError as error:
            return _failed(error)

    async def decide(self, request: Request) -> Response:
        if not is_person(request):
            return NOT_IN.response()
        try:
            given = read_json(DecisionBody, await request.body())
            row = await self._approvals.decide(request.path_params["id"], given.to_decision(PERSON))
        except InvalidDataError as error:
            return _invalid(error)
        except UiMcpError as error:
            return _failed(error)
        return JSONResponse(row.to_json(self._masker))

    async def decide_many(self, request: Request) -> Response:
        """Apply several answers in order; one that fails does not stop the others."""
        if not is_person(request):
            return NOT_IN.response()
        try:
            given = read_json(Decisions, await request.body())
        except InvalidDataError as error:
            return _invalid(error)
        return JSONResponse({"results": [await decide_one(self._approvals, one, PERSON) for one in given.decisions]})

    async def settle(self, request: Request) -> Response:
        if not is_person(request):
            return NOT_IN.response()
        try:
            given = read_json(ProposalDecision, await request.body())
            settled = await self._proposals.settle(request.path_params["id"], given.decision, PERSON)
            if self._approvals.on_rule is not None:
                await self._approvals.on_rule()
        except InvalidDataError as error:
            return _invalid(error)
        except UiMcpError as error:
            return _failed(error)
        return JSONResponse(settled.to_json())


async def decide_one(approvals: ApprovalService, one: OneOfMany, by: str) -> JsonObject:
    """Apply one answer of a batch and return its outcome, or the error, as JSON."""
    try:
        row = await approvals.decide(one.id, one.to_decision(by))
    except UiMcpError as error:
        return {"id": one.id, "error": {"code": error.code, "message": error.message}}
    return {"id": one.id, "status": row.status, "decision": row.decision}


def health_route(describe: Callable[[], JsonObject]) -> BaseRoute:
    async def health(request: Request) -> Response:
        return JSONResponse(describe())

    return Route("/api/health", health)


def _failed(error: UiMcpError) -> Response:
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    return _json_error(status, error.code, error.message, error.details)


def _invalid(error: InvalidDataError) -> Response:
    return _json_error(400, "invalid_argument", str(error.problems[0]))


def _json_error(status: int, code: str, message: str, details: dict[str, object] | None = None) -> Response:
    return JSONResponse({"error": {"code": code, "message": message, "details": details or {}}}, status)


READ, DECIDE, APPROVE_POLICY = "approvals.read", "approvals.decide", "policy.approve"


# With the digest another client could fetch the result as if the call were its own.
_CLIENT_ONLY = frozenset({"digest", "result"})


Authenticate = Callable[[Request], Awaitable[Principal | None]]

OpenApprovals = Callable[[], AbstractAsyncContextManager[ApprovalService | None]]

"""Opens the approvals for the length of a block; None when there is no store."""


class ApprovalBridge:
    """Serves `/approvals…` to callers that `authenticate` recognises; without a store nothing is pending."""

    def __init__(self, open_approvals: OpenApprovals, authenticate: Authenticate) -> None:
        self._open = open_approvals
        self._authenticate = authenticate

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints of the person's listener."""
        return [
            Route("/approvals", self.listed, methods=["GET"]),
            Route("/approvals/decisions", self.decide_many, methods=["POST"]),
            Route("/approvals/proposals/{id}", self.settle, methods=["POST"]),
            Route("/approvals/{id}/decision", self.decide, methods=["POST"]),
        ]

    def reading_routes(self) -> Sequence[BaseRoute]:
        """Return the read-only endpoints, for every other listener."""
        return [Route("/approvals", self.watched, methods=["GET"])]

    async def pending(self) -> int:
        """Return the number of pending approvals."""
        async with self._open() as approvals:
            return 0 if approvals is None else len(await approvals.pending())

    async def watched(self, request: Request) -> Response:
        """List approvals without the digests and results, which belong to the client that made the call."""
        return await self.listed(request, without=_CLIENT_ONLY)

    async def listed(self, request: Request, *, without: Collection[str] = ()) -> Response:
        """List pending approvals and proposals; with `?status=history` the answered approvals."""
        principal = await self._authenticate(request)
        if principal is None or READ not in principal.scopes:
            return _refused(principal)
        async with self._open() as approvals:
            history = request.query_params.get("status") == "history"
            rows = [] if approvals is None else await (approvals.history() if history else approvals.pending())
            proposals = [] if approvals is None else await Proposals(approvals.store).all()
            pending = [one.to_json() for one in proposals if one.status == "pending"]
            shown = [{**row.to_json(), "covers": pattern_of(row)} for row in rows]
            kept = [{key: value for key, value in row.items() if key not in without} for row in shown]
            return JSONResponse({"approvals": kept, "proposals": pending})

    async def decide(self, request: Request) -> Response:
        principal = await self._authenticate(request)
        if principal is None or DECIDE not in principal.scopes:
            return _refused(principal)
        try:
            given = read_json(DecisionBody, await request.body())
            async with self._open() as approvals:
                if approvals is None:
                    raise UnknownApprovalError(f"No approval {request.path_params['id']}")
                row = await approvals.decide(request.path_params["id"], given.to_decision(principal.name))
                return JSONResponse(row.to_json())
        except InvalidDataError as error:
            return _approval_bridge_failed(400, "invalid_argument", str(error.problems[0]))
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return _approval_bridge_failed(status, error.code, error.message)

    async def decide_many(self, request: Request) -> Response:
        """Apply several answers in order; one that fails does not stop the others."""
        principal = await self._authenticate(request)
        if principal is None or DECIDE not in principal.scopes:
            return _refused(principal)
        try:
            given = read_json(Decisions, await request.body())
        except InvalidDataError as error:
            return _approval_bridge_failed(400, "invalid_argument", str(error.problems[0]))
        async with self._open() as approvals:
            if approvals is None:
                return _approval_bridge_failed(404, "unknown_approval", "Nothing waits here")
            return JSONResponse(
                {"results": [await decide_one(approvals, one, principal.name) for one in given.decisions]}
            )

    async def settle(self, request: Request) -> Response:
        """Accept or refuse a proposed rule; running gateways pick up the change from the store."""
        principal = await self._authenticate(request)
        if principal is None or APPROVE_POLICY not in principal.scopes:
            return _refused(principal)
        try:
            given = read_json(ProposalDecision, await request.body())
            async with self._open() as approvals:
                if approvals is None:
                    raise NotFoundError(f"No pending proposal {request.path_params['id']}")
                settled = await Proposals(approvals.store).settle(
                    request.path_params["id"], given.decision, principal.name
                )
                return JSONResponse(settled.to_json())
        except InvalidDataError as error:
            return _approval_bridge_failed(400, "invalid_argument", str(error.problems[0]))
        except NotFoundError as error:
            return _approval_bridge_failed(404, error.code, error.message)


def approvals_opener(place: Callable[[], str | None]) -> OpenApprovals:
    """Return a function that opens the store at a path or URL for one request; a missing file is not created."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[ApprovalService | None]:
        where = place()
        if where is None or ((file := file_of(where)) is not None and not file.is_file()):
            yield None
            return
        store = await to_thread.run_sync(open_store, where)  # connecting to a remote database blocks
        try:
            yield ApprovalService(store)
        finally:
            store.close()

    return opened


def _refused(principal: Principal | None) -> Response:
    if principal is None:
        return _approval_bridge_failed(401, "unauthorized", "Open the page of this server, or send a bearer token")
    return _approval_bridge_failed(403, "forbidden", f"{principal.name} may not do this")


def _approval_bridge_failed(status: int, code: str, message: str) -> Response:
    details: JsonObject = {}
    return JSONResponse({"error": {"code": code, "message": message, "details": details}}, status)


def approvals_app(port: int, pages: ApprovalPages, approvals: ApprovalService, more: Sequence[BaseRoute] = ()) -> App:
    """Build the app on which the person answers approvals; `more` are routes of the same page, with its inbox."""
    access = Access(str(port))

    def page(request: Request) -> Response:
        return person_html(person_page(), access.nonces)

    site = PersonSite(access, page, describing(approvals, inbox=True), [*pages.routes(), *more, *_files()])
    return SecurityMiddleware(person_app(site), AccessRules(ports=frozenset({port})))


def person_routes(access: Access, approvals: ApprovalService) -> list[BaseRoute]:
    """Return what a shared listener adds for the person: the sign-in, and the page of approvals."""

    async def page(request: Request) -> Response:
        return person_html(person_page(), access.nonces)

    pages = (HtmlRoute(path, page, methods=["GET"]) for path in ("/approvals", "/sign-ins"))
    return [*entry_routes(access, describing(approvals)), *pages, *_files()]


def _files() -> list[BaseRoute]:
    return [file_route("/person/assets", PERSON_FOLDER), shared_style_route()]


def describing(approvals: ApprovalService, *, inbox: bool = False) -> Describe:
    """Return the description that the page loads; a gateway has no app to embed, and may have an inbox."""

    async def describe(request: Request) -> JsonObject:
        pending = len(await approvals.pending())
        shown = {"app_url": "", "version": bundled_version(), "base_dir": ""}
        return {**shown, "pending": pending, "accounts": True, "inbox": inbox}

    return describe
