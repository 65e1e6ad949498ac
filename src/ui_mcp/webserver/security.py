"""Checks Host, Origin, Sec-Fetch, token and size of every request before anything is allocated."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hmac import compare_digest
from urllib.parse import parse_qs

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_EDITORS = ("vscode-webview:", "vscode-file:")
"""Frames of editors; no web site can use these schemes."""
_CONTAINED = (
    "connect-src 'self' https: wss: data: blob:; form-action 'self' https:; frame-src 'self' https: data: blob:; "
    "object-src 'none'; "
)
"""Keeps app code away from other http servers on this machine; scripts, styles and images stay unrestricted."""
MAX_BODY = 4 * 1024 * 1024
MCP_SESSION = "mcp-session-id"
"""The header that pages must be able to read and send to stay in their session."""


@dataclass(frozen=True, slots=True)
class AccessRules:
    ports: frozenset[int]
    """Our own ports: a page of either listener may call both."""
    allowed_hosts: frozenset[str] = frozenset()
    allowed_origins: frozenset[str] = frozenset()
    token: str | None = None
    """Bearer token that every request must have, if set."""
    authenticated_elsewhere: Callable[[str], bool] = lambda _: False
    """Paths that authenticate their callers by tokens of their own."""
    redeem: Callable[[str], bool] = lambda _: False
    """Accepts a one-time token instead of a known Origin on a WebSocket upgrade."""
    navigable: Callable[[str], bool] = lambda _: True
    """Paths that a link on another site may open."""
    sockets_without_origin: bool = False
    """Whether programs that are not browsers may open WebSockets; the route then requires a token."""
    framed_by: tuple[str, ...] = ()
    """Origins that may frame our pages, besides our own, editors and the allowed ones."""
    contained: bool = False
    """Whether pages contain app code, which must not send requests to other ports of this machine."""
    service_worker: str | None = None
    """Path of the one service worker that a page may install."""
    max_body: Callable[[str], int] = lambda _: MAX_BODY
    """Bytes that a request to a path may have."""
    policy: bytes = field(init=False)
    """Content security policy: who may frame our pages, and where they may send requests."""
    hosts: frozenset[str] = field(init=False)
    origins: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        names = {f"{name}:{port}" for name in LOOPBACK_NAMES for port in self.ports}
        if 80 in self.ports:
            names |= set(LOOPBACK_NAMES)
        framed_by = ("'self'", *_EDITORS, *sorted(self.allowed_origins), *self.framed_by)
        policy = f"{_CONTAINED if self.contained else ''}frame-ancestors {' '.join(framed_by)}"
        object.__setattr__(self, "policy", policy.encode())
        object.__setattr__(self, "hosts", frozenset(names | _lower(self.allowed_hosts)))
        allowed, ports = _lower(self.allowed_hosts), {str(port) for port in self.ports}
        at_home = names | {name for name in allowed if name.rpartition(":")[2] in ports}
        at_home |= {f"{name}:{port}" for name in allowed for port in ports}
        object.__setattr__(
            self, "origins", frozenset({f"http://{name}" for name in at_home} | _lower(self.allowed_origins))
        )

    def knows_host(self, host: str) -> bool:
        """Return whether a Host header is one of our names or a configured one, with or without a port."""
        host = host.lower()
        return host in self.hosts or host.rpartition(":")[0] in _lower(self.allowed_hosts)


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class SecurityMiddleware:
    """Middleware that refuses what the rules do not allow and adds security headers to responses."""

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self.app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        refusal = check(scope, self._rules)
        if refusal is not None:
            await _refuse(scope, receive, send, refusal)
            return
        if scope["type"] == "http":
            limited = _limited(receive, self._rules.max_body(scope["path"]))
            await self.app(scope, limited, _security_headers(send, self._rules))
        else:
            await self.app(scope, receive, send)


def readable_by(origins: Iterable[str], app: ASGIApp) -> ASGIApp:
    """Let MCP hosts that are web pages of these origins read the answers; browsers ask for that before they send."""
    methods, exposed = ("GET", "POST", "DELETE"), (MCP_SESSION,)
    return CORSMiddleware(app, sorted(origins), methods, allow_headers=("*",), expose_headers=exposed)


def check(scope: Scope, rules: AccessRules) -> Refusal | None:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    if not rules.knows_host(headers.get(b"host", "")):
        return Refusal(421, "Unknown Host header; use 127.0.0.1 or list the name in server.allowed_hosts")
    if headers.get(b"service-worker") == "script" and scope["path"] != rules.service_worker:
        # It would outlive this server and intercept requests to whatever uses the port next.
        return Refusal(403, "Pages here may not install service workers")
    return (
        _check_origin(scope, headers, rules)
        or _check_fetch_site(scope, headers, rules)
        or _check_token(scope, headers, rules)
        or _check_length(headers, rules.max_body(scope["path"]))
    )


def _check_origin(scope: Scope, headers: dict[bytes, str], rules: AccessRules) -> Refusal | None:
    origin = headers.get(b"origin")
    if origin is not None and origin.lower() in rules.origins:
        return None
    if scope["type"] == "websocket":
        if origin is None and rules.sockets_without_origin:
            return None
        token = _query(scope, "token")
        if token is not None and rules.redeem(token):
            return None
        return Refusal(403, "This Origin may not open a WebSocket here")
    if origin is not None:
        return Refusal(403, "This Origin may not talk to this server")
    return None


def _check_fetch_site(scope: Scope, headers: dict[bytes, str], rules: AccessRules) -> Refusal | None:
    if scope["type"] == "websocket" or headers.get(b"sec-fetch-site", "none") not in {"cross-site", "same-site"}:
        return None
    if headers.get(b"origin", "").lower() in _lower(rules.allowed_origins):
        return None
    opens_a_page = scope["method"] == "GET" and headers.get(b"sec-fetch-mode") == "navigate"
    if opens_a_page and rules.navigable(scope["path"]):
        return None
    return Refusal(403, "Requests from other sites are refused")


def _check_token(scope: Scope, headers: dict[bytes, str], rules: AccessRules) -> Refusal | None:
    if rules.token is None or rules.authenticated_elsewhere(scope["path"]):
        return None
    scheme, _, given = headers.get(b"authorization", "").partition(" ")
    if scheme.lower() == "bearer" and compare_digest(given.strip().encode(), rules.token.encode()):
        return None
    return Refusal(401, "A bearer token is needed (see mcp-token)", ((b"www-authenticate", b"Bearer"),))


def _check_length(headers: dict[bytes, str], most: int) -> Refusal | None:
    length = headers.get(b"content-length", "0")
    if length.isascii() and length.isdigit() and len(length) < 16 and int(length) <= most:
        return None
    return Refusal(413, f"Request bodies are limited to {most >> 20} MiB")


def _query(scope: Scope, name: str) -> str | None:
    values = parse_qs(scope["query_string"].decode("latin-1")).get(name)
    return values[0] if values else None


async def _refuse(scope: Scope, receive: Receive, send: Send, refusal: Refusal) -> None:
    if scope["type"] == "websocket":
        await receive()
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    body = refusal.text.encode() + b"\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        *refusal.headers,
    ]
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})


def _limited(receive: Receive, most: int) -> Receive:
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            # A chunked body that exceeds the limit: treat the client as disconnected.
            return {"type": "http.disconnect"}
        return message

    return limited


def _security_headers(send: Send, rules: AccessRules) -> Send:
    async def careful(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *_extra(message.get("headers", []), rules)]}
        await send(message)

    return careful


def _extra(headers: Iterable[tuple[bytes, bytes]], rules: AccessRules) -> list[tuple[bytes, bytes]]:
    present = {name.lower(): value for name, value in headers}
    extra = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
    if present.get(b"content-type", b"").startswith(b"application/json"):
        extra.append((b"cache-control", b"no-store"))
    missing = [(name, value) for name, value in extra if name not in present]
    # The policy applies to every file: SVG images are documents too, and workers have policies of their own.
    is_page = present.get(b"content-type", b"").startswith(b"text/html")
    if rules.contained or (is_page and b"content-security-policy" not in present):
        missing.append((b"content-security-policy", rules.policy))
    return missing


def _lower(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names}
