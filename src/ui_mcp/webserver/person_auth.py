"""Authenticates the person on a person's origin by a header, the exact origin and the page's nonce, never a cookie."""

import hmac
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_bytes, token_urlsafe
from typing import Protocol

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui_mcp.person import PersonKeys

DRIVEN = "ui-mcp-eyes"
"""Part of the user agent of browsers that agents drive."""

CREDENTIAL_HEADER = "x-ui-person"
NONCE_HEADER = "x-ui-nonce"
ENTER = "/person/enter"
READING = frozenset({"GET", "HEAD"})
NONCE_SECONDS = 86_400.0
WRONG_CODES = 10
WRONG_CODE_SECONDS = 60.0
_PERSON = "ui_mcp.person"
_HEADERS = (
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
)


class PageNonces:
    """Nonces of pages that this listener served; they are signed, so that none has to be stored."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._key = token_bytes(32)
        self._clock = clock

    def mint(self) -> str:
        body = f"{int(self._clock())}.{token_urlsafe(12)}"
        return f"{body}.{self._signature(body)}"

    def knows(self, nonce: str) -> bool:
        """Return whether a nonce was signed here and is younger than `NONCE_SECONDS`."""
        body, _, signature = nonce.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(body).encode()):
            return False
        return int(body.partition(".")[0]) + NONCE_SECONDS > self._clock()

    def _signature(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), sha256).hexdigest()


class WrongCodes:
    """Limits wrong codes to `WRONG_CODES` per `WRONG_CODE_SECONDS`, against guessing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: deque[float] = deque()

    def wait(self) -> float:
        """Return 0, or the seconds until another code may be tried."""
        now = self._clock()
        while self._times and self._times[0] + WRONG_CODE_SECONDS <= now:
            self._times.popleft()
        return 0.0 if len(self._times) < WRONG_CODES else self._times[0] + WRONG_CODE_SECONDS - now

    def add(self) -> None:
        self._times.append(self._clock())


class Keys(Protocol):
    """Credentials that are given for one-time codes."""

    def exchange(self, code: str, listener: str, client: str) -> str | None:
        """Redeem a code for a credential that is valid at `listener`; `client` is the browser's user agent."""
        ...

    def recognises(self, credential: str | None, listener: str) -> bool:
        """Return whether a credential is valid at `listener`."""
        ...

    def forget(self, credential: str) -> None:
        """Revoke a credential."""
        ...


@dataclass(frozen=True, slots=True)
class Access:
    """Credentials and nonces by which one listener recognises the person."""

    listener: str
    """Name of the listener; a credential is valid only at the listener that issued it."""
    keys: Keys = field(default_factory=PersonKeys)
    nonces: PageNonces = field(default_factory=PageNonces)
    wrong_codes: WrongCodes = field(default_factory=WrongCodes)

    def recognises(self, credential: str | None) -> bool:
        """Return whether a credential is valid at this listener."""
        return self.keys.recognises(credential, self.listener)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is not accepted as the person's."""

    status: int
    code: str
    message: str

    def response(self) -> JSONResponse:
        return JSONResponse(
            {"error": {"code": self.code, "message": self.message, "details": {}}},
            self.status,
            {"Cache-Control": "no-store"},
        )


DRIVEN_BROWSER = Refused(403, "forbidden", "The browser that an agent drives may not use the person's page")
OTHER_ORIGIN = Refused(403, "forbidden", "Only the person's page may do this: Origin or Sec-Fetch-Site is not its own")
UNKNOWN_SITE = Refused(
    403,
    "forbidden",
    "The browser does not say where this comes from (Sec-Fetch-Site); it does at 127.0.0.1, as through a tunnel, "
    "and at https addresses",
)
NOT_IN = Refused(401, "unauthorized", "Open the link that your terminal shows, or run: ui-mcp open")
STALE_PAGE = Refused(409, "stale_page", "The page is from before a restart; reload it")
NOT_JSON = Refused(415, "unsupported_media_type", "Send application/json")


def refusal(
    connection: HTTPConnection, access: Access, *, entering: bool = False, upload: bool = False
) -> Refused | None:
    """Return why a request is not accepted as the person's, or None if it is; reading needs no nonce."""
    changing = connection.scope.get("method", "GET") not in READING
    if driven(connection):
        return DRIVEN_BROWSER
    if not (own_page(connection) if changing else own_or_unsaid(connection)):
        return UNKNOWN_SITE if "sec-fetch-site" not in connection.headers and own_origin(connection) else OTHER_ORIGIN
    if not entering and not access.recognises(connection.headers.get(CREDENTIAL_HEADER)):
        return NOT_IN
    if not changing:
        return None
    if not access.nonces.knows(connection.headers.get(NONCE_HEADER, "")):
        return STALE_PAGE
    return None if upload or _is_json(connection.headers) else NOT_JSON


def driven(connection: HTTPConnection) -> bool:
    """Return whether an agent drives the browser."""
    return DRIVEN in connection.headers.get("user-agent", "")


def own_page(connection: HTTPConnection) -> bool:
    """Return whether a page of exactly this origin sent the request."""
    return connection.headers.get("sec-fetch-site") == "same-origin" and own_origin(connection)


def own_origin(connection: HTTPConnection) -> bool:
    """Return whether the Origin header is exactly this origin."""
    return connection.headers.get("origin", "").lower() in _own(connection)


def own_or_unsaid(connection: HTTPConnection) -> bool:
    """Return whether a reading request comes from this origin, or from a program that sends no Origin."""
    headers = connection.headers
    if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    return "origin" not in headers or headers["origin"].lower() in _own(connection)


def is_person(connection: HTTPConnection) -> bool:
    """Return whether a request was authenticated as the person's."""
    return connection.scope.get(_PERSON) is True


def mark_person(scope: Scope) -> None:
    """Mark a request as authenticated."""
    scope[_PERSON] = True


def _own(connection: HTTPConnection) -> tuple[str, str]:
    host = connection.headers.get("host", "").lower()
    return f"http://{host}", f"https://{host}"


def _is_json(headers: Headers) -> bool:
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return True
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


class PersonAuth:
    """Middleware that requires the person's credential, except for `public` pages and files, which hold no secrets."""

    def __init__(
        self, app: ASGIApp, access: Access, public: Callable[[HTTPConnection], bool], uploads: Collection[str] = ()
    ) -> None:
        self.app = app
        self._access = access
        self._public = public
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        found = self._refusal(HTTPConnection(scope))
        if found is None:
            await self.app(scope, receive, careful(send))
            return
        if scope["type"] == "websocket":
            await receive()
        await found.response()(scope, receive, careful(send))

    def _refusal(self, connection: HTTPConnection) -> Refused | None:
        scope = connection.scope
        if driven(connection):
            return DRIVEN_BROWSER
        if scope["type"] == "websocket":  # the first frame carries the credential
            return None if own_or_unsaid(connection) else OTHER_ORIGIN
        if scope["method"] in READING and self._public(connection):
            return None
        entering = (scope["method"], scope["path"]) == ("POST", ENTER)
        found = refusal(connection, self._access, entering=entering, upload=scope["path"] in self._uploads)
        if found is None and not entering:
            mark_person(scope)
        return found


def careful(send: Send) -> Send:
    """Add the headers that isolate the origin from other pages, unless a response sets its own."""

    async def careful_send(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _with_defaults(message.get("headers", []))}
        await send(message)

    return careful_send


def _with_defaults(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    present = {name.lower() for name, _ in given}
    return [*given, *((name, value) for name, value in _HEADERS if name not in present)]
