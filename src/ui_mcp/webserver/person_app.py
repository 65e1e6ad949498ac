"""The person's origin: login, logout and its pages."""

import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_urlsafe

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Scope

from ui_mcp.errors import ConfigError, LifecycleError, NotFoundError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.person import PersonKeys, registered_listener, reserved_ports, state_folder
from ui_mcp.webserver.person_auth import (
    CREDENTIAL_HEADER,
    ENTER,
    NOT_IN,
    Access,
    PageNonces,
    PersonAuth,
    Refused,
    is_person,
)
from ui_mcp.webserver.responses import not_found
from ui_mcp.webserver.server import App, bind, listening, port_of
from ui_mcp.webserver.static import Files
from ui_mcp.workspace import BUNDLE

BAD_CODE = Refused(401, "unauthorized", "This code is not valid: it was used, is too old or has a typing mistake")

NO_CODE = Refused(400, "invalid_argument", 'Send {"code": "…"} as JSON')


Describe = Callable[[Request], Awaitable[JsonObject]]

"""Returns the state that the page shows: the app's URL, and how much waits for the person."""


Page = Callable[[Request], Response]

_PUBLIC_FOLDERS = ("/person/assets/", "/look/")

ATTACHMENTS = "/chat/attachments"
"""Where pages upload the files of messages."""
MAX_UPLOAD = 10 * 1024 * 1024 + 1
"""Bytes of such an upload that are read: one more than the chat stores, so that its answer can name the limit."""
PAGES = frozenset({"/", "/chat", "/inbox", "/approvals", "/sign-ins"})
"""`/approvals` is the older address of the inbox."""


@dataclass(frozen=True, slots=True)
class PersonSite:
    access: Access
    page: Page
    describe: Describe
    routes: Sequence[BaseRoute]
    pages: frozenset[str] = PAGES
    """Paths that show the page to a browser."""
    uploads: frozenset[str] = frozenset()
    """Paths to which a file may be sent as it is."""
    files: frozenset[str] = frozenset()
    """Further paths without secrets, which browsers fetch by themselves."""


def person_app(site: PersonSite) -> ASGIApp:
    """Build the application of a person's origin, with its authentication."""

    async def page(request: Request) -> Response:
        return site.page(request)

    app = Starlette(
        routes=[
            Route("/", page, methods=["GET"]),
            *(HtmlRoute(path, page, methods=["GET"]) for path in sorted(site.pages - {"/"})),
            *entry_routes(site.access, site.describe),
            *site.routes,
        ],
        exception_handlers={HTTPException: _failed, LifecycleError: _unavailable, NotFoundError: _unavailable},
    )
    return PersonAuth(app, site.access, partial(is_public, pages=site.pages, files=site.files), site.uploads)


class HtmlRoute(Route):
    """Matches only requests for HTML; the same path serves JSON to programs."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        found, child = super().matches(scope)
        if found is not Match.NONE and not wants_html(HTTPConnection(scope)):
            return Match.NONE, {}
        return found, child


def is_public(connection: HTTPConnection, pages: frozenset[str] = PAGES, files: frozenset[str] = frozenset()) -> bool:
    """Return whether a path is a page or one of its files, which contain no secrets."""
    path = connection.scope["path"]
    if path == "/" or path in files or path.startswith(_PUBLIC_FOLDERS):
        return True
    return path in pages and wants_html(connection)


def wants_html(connection: HTTPConnection) -> bool:
    """Return whether the client accepts HTML."""
    return "text/html" in connection.headers.get("accept", "")


def entry_routes(access: Access, describe: Describe) -> list[BaseRoute]:
    """Return the routes that exchange a code for a credential, describe the state, mint nonces and sign out."""

    async def enter(request: Request) -> Response:
        code = _code(await request.body())
        if code is None:
            return NO_CODE.response()
        # Codes are short enough to type, so the number of guesses has to be limited.
        if wait := access.wrong_codes.wait():
            message = f"Too many wrong codes; try again in {int(wait) + 1} s"
            response = Refused(429, "rate_limited", message).response()
            response.headers["Retry-After"] = str(int(wait) + 1)
            return response
        try:
            credential = access.keys.exchange(code, access.listener, request.headers.get("user-agent", ""))
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


async def _unavailable(request: Request, error: Exception) -> Response:
    return Refused(503, "unavailable", "The server is being started or stopped; try again in a moment").response()


PERSON_FOLDER = BUNDLE / "web" / "person"

BUILT_PAGE = PERSON_FOLDER / "index.html"

PLAIN_PAGE = Path(__file__).with_name("person.html")

_NONE = "'none'"

_INSTALLABLE = "; manifest-src 'self'; worker-src 'self'"

_MISSING = "The page is missing from this installation; build it with: make web\n"


def person_html(file: Path, nonces: PageNonces, *, frames: Sequence[str] = (), head: str = "") -> Response:
    """Return a page with a new nonce for its requests and another (`{{nonce}}`) for its scripts and styles.

    A page with a `head` of its own may have a manifest and a service worker.
    """
    if not file.is_file():
        return PlainTextResponse(_MISSING, 500)
    # New for every response: a nonce that repeats would admit an injected script that once saw it.
    script = token_urlsafe(16)
    html = file.read_text(encoding="utf-8").replace("{{nonce}}", script)
    html = html.replace("<head>", f'<head>\n<meta name="ui-nonce" content="{nonces.mint()}">{head}', 1)
    policy = (
        f"default-src 'none'; script-src 'self' 'nonce-{script}'; style-src 'self' 'nonce-{script}'; "
        f"img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src {' '.join(frames) or _NONE}; "
        f"form-action 'none'; base-uri 'none'; frame-ancestors 'none'{_INSTALLABLE if head else ''}"
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": policy, "Cache-Control": "no-store"})


def person_page() -> Path:
    """Return the built page, or the plain one that only asks for a code."""
    return BUILT_PAGE if BUILT_PAGE.is_file() else PLAIN_PAGE


def file_route(path: str, folder: Path) -> Route:
    """Return a route that serves the files of a folder."""
    files = Files((folder,), confine=(folder,))

    async def file(request: Request) -> Response:
        found = await files.find(request.path_params["path"], request.scope)
        return found or not_found(request)

    return Route(f"{path}/{{path:path}}", file, methods=["GET"])


def bind_for_person(host: str, base: Path, known: Iterable[int] = ()) -> socket.socket:
    """Return the socket of a person's listener: on a known port, which keeps its origin, else on a reserved or any one.

    Raises:
        ConfigError: the address is not available.
    """
    for port in (*known, *reserved_ports(base)):
        with suppress(ConfigError):
            return bind(host, port)
    return bind(host, 0)


@contextmanager
def registered(port: int) -> Iterator[None]:
    """Register a person's listener while the block runs.

    Raises:
        ConfigError: the account's own folder cannot be written.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(registered_listener(port))
        except OSError as error:
            message = f"{state_folder()} cannot be written: {error.strerror or error}"
            hint = "It keeps your credentials; make it writable, or choose another place by XDG_STATE_HOME."
            raise ConfigError(f"{message}\n{hint}") from error
        yield


@asynccontextmanager
async def person_listening(
    app: App, listener: socket.socket, allowed_users: Sequence[str | int] = ()
) -> AsyncIterator[None]:
    """Serve a person's origin while the block runs; browsers driven by agents do not open its port."""
    async with AsyncExitStack() as stack:
        stack.enter_context(registered(port_of(listener)))
        await stack.enter_async_context(listening(app, listener, allowed_users))
        yield


def person_link(url: str, path: str = "") -> str:
    """Return the URL of a person's page, with a one-time code only if stdout is a terminal."""
    # Output that is not a terminal may be a log or an agent's pipe, where a code does not belong.
    with suppress(OSError):
        if sys.stdout.isatty():
            return f"{url}/{path}#code={PersonKeys().new_code()}"
    return f"{url}/{path}".rstrip("/")
