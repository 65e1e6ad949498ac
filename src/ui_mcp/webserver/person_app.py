"""A person's origin: letting the person in and out, and whatever else only the person may do."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Scope

from ui_mcp.errors import LifecycleError, NotFoundError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.webserver.person_auth import CREDENTIAL_HEADER, ENTER, NOT_IN, Access, PersonAuth, Refused, is_person

BAD_CODE = Refused(401, "unauthorized", "This code is not valid: it was used, is too old or has a typing mistake")
NO_CODE = Refused(400, "invalid_argument", 'Send {"code": "…"} as JSON')
Describe = Callable[[Request], Awaitable[JsonObject]]
"""Tells the page what it is about: the address of the app, how much waits."""
Page = Callable[[Request], Response]
_PUBLIC_FOLDERS = ("/person/assets/", "/look/")
_PAGES = frozenset({"/", "/chat", "/approvals"})


@dataclass(frozen=True, slots=True)
class PersonSite:
    """What one person's origin serves."""

    access: Access
    page: Page
    describe: Describe
    routes: Sequence[BaseRoute]


def person_app(site: PersonSite) -> ASGIApp:
    """Assemble a person's origin, behind its authentication."""

    async def page(request: Request) -> Response:
        return site.page(request)

    app = Starlette(
        routes=[
            Route("/", page, methods=["GET"]),
            *(HtmlRoute(path, page, methods=["GET"]) for path in sorted(_PAGES - {"/"})),
            *entry_routes(site.access, site.describe),
            *site.routes,
        ],
        exception_handlers={HTTPException: _failed, LifecycleError: _not_now, NotFoundError: _not_now},
    )
    return PersonAuth(app, site.access, is_public)


class HtmlRoute(Route):
    """A page whose address answers programs that ask for JSON with data."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        found, child = super().matches(scope)
        if found is not Match.NONE and not wants_html(HTTPConnection(scope)):
            return Match.NONE, {}
        return found, child


def is_public(connection: HTTPConnection) -> bool:
    """Say whether a path is a page or one of its files, which hold nothing secret."""
    path = connection.scope["path"]
    return path == "/" or path.startswith(_PUBLIC_FOLDERS) or (path in _PAGES and wants_html(connection))


def wants_html(connection: HTTPConnection) -> bool:
    """Say whether a browser asks for a page."""
    return "text/html" in connection.headers.get("accept", "")


def entry_routes(access: Access, describe: Describe) -> list[BaseRoute]:
    """Return where a code is changed for a credential, a page learns what it needs, and the person leaves."""

    async def enter(request: Request) -> Response:
        code = _code(await request.body())
        if code is None:
            return NO_CODE.response()
        if wait := access.wrong_codes.wait():
            message = f"Too many wrong codes; try again in {int(wait) + 1} s"
            response = Refused(429, "rate_limited", message).response()
            response.headers["Retry-After"] = str(int(wait) + 1)
            return response
        try:
            credential = access.keys.exchange(code, access.listener)
        except OSError as error:
            message = f"The credential cannot be kept: {error.strerror or error}; make room and ask for another code"
            return Refused(500, "storage_error", message).response()
        if credential is None:
            access.wrong_codes.add()
            return BAD_CODE.response()
        return JSONResponse({"credential": credential})

    async def state(request: Request) -> Response:
        return JSONResponse(await describe(request)) if is_person(request) else NOT_IN.response()

    async def nonce(request: Request) -> Response:
        if not is_person(request):
            return NOT_IN.response()
        return JSONResponse({"nonce": access.nonces.mint()})

    async def leave(request: Request) -> Response:
        access.keys.forget(request.headers[CREDENTIAL_HEADER])
        return JSONResponse({"ok": True})

    return [
        Route(ENTER, enter, methods=["POST"]),
        Route("/person/state", state, methods=["GET"]),
        Route("/person/nonce", nonce, methods=["GET"]),
        Route("/person/leave", leave, methods=["POST"]),
    ]


def _code(body: bytes) -> str | None:
    try:
        given: Json = loads(body)
    except ValueError:
        return None
    code = given.get("code") if isinstance(given, dict) else None
    return code if isinstance(code, str) else None


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid_request")
    return Refused(error.status_code, code, error.detail).response()


async def _not_now(request: Request, error: Exception) -> Response:
    return Refused(503, "unavailable", "The server is being started or stopped; try again in a moment").response()
