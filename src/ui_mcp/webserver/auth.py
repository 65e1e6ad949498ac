"""Bearer tokens, one-time tokens and rate limits."""

import time
from collections.abc import Awaitable, Callable
from secrets import token_hex

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PRINCIPAL = "ui_mcp.principal"

Admit = Callable[[str | None], Awaitable[str | None]]
"""Returns the principal's name for a bearer token (or for none), or None to refuse the request."""


class BearerAuth:
    """Middleware that passes on requests whose token, or lack of one, `admit` accepts."""

    def __init__(self, app: ASGIApp, admit: Admit, *, free: Callable[[str], bool] = lambda _: False) -> None:
        self._app = app
        self._admit = admit
        self._free = free

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._free(scope["path"]):
            name = await self._admit(bearer(scope))
            if name is None:
                error = {"code": "unauthorized", "message": "A valid bearer token is needed", "details": {}}
                response = JSONResponse({"error": error}, 401, {"WWW-Authenticate": "Bearer"})
                await response(scope, receive, send)
                return
            scope[PRINCIPAL] = name
        await self._app(scope, receive, send)


def bearer(scope: Scope) -> str | None:
    kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def principal_of(scope: Scope) -> str:
    """Return the name that `BearerAuth` stored in a request's scope."""
    name: str = scope[PRINCIPAL]
    return name


MOST_NAMES = 10_000


class Rate:
    """Token-bucket rate limit per name: `per_second` on average, bursts of twice that."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def allow(self, name: str, amount: float = 1.0) -> float:
        """Take `amount` from the bucket of `name`; return 0, or how many seconds to wait until it is available."""
        now = self._clock()
        most = max(2 * self._per_second, amount)
        level, seen = self._buckets.pop(name, (most, now))
        level = min(most, level + (now - seen) * self._per_second)
        enough = level >= amount
        self._buckets[name] = (level - amount if enough else level, now)
        # Each use re-inserts its name above, so the first one is the least recently used.
        if len(self._buckets) > MOST_NAMES:
            self._buckets.pop(next(iter(self._buckets)))
        return 0.0 if enough else (amount - level) / self._per_second


LIFETIME = 60.0
CODE_LIFETIME = 600.0
MOST = 1000


class OneTimeTokens:
    """Tokens that open one session, once, within `lifetime` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, lifetime: float = LIFETIME) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}

    def mint(self, session: str) -> str:
        now = self._clock()
        alive = {token: kept for token, kept in self._tokens.items() if kept[1] > now}
        self._tokens = dict(list(alive.items())[-MOST + 1 :])
        token = token_hex(16)
        self._tokens[token] = (session, now + self._lifetime)
        return token

    def valid(self, token: str) -> bool:
        """Return whether the token could be used now."""
        session, until = self._tokens.get(token, ("", 0.0))
        return bool(session) and until > self._clock()

    def spend(self, token: str) -> str | None:
        """Invalidate the token; return its session's secret id if it was valid."""
        session, until = self._tokens.pop(token, ("", 0.0))
        return session if session and until > self._clock() else None
