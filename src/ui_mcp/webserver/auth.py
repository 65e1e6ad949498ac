"""Bearer tokens, one-time tokens, rate limit."""

import time
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ui_mcp.ids import secret_id

PRINCIPAL = "ui_mcp.principal"

Admit = Callable[[str | None], Awaitable[str | None]]
"""Returns the name for a bearer token (or for none), or None to turn the request away."""


class BearerAuth:
    """Lets through requests whose token, or lack of one, `admit` accepts."""

    def __init__(self, app: ASGIApp, admit: Admit, *, free: Callable[[str], bool] = lambda _: False) -> None:
        self._app = app
        self._admit = admit
        self._free = free

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
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
    """Return the bearer token of a request."""
    kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def principal_of(scope: Scope) -> str:
    """Return the name an `Admission` wrote on a request."""
    name: str = scope[PRINCIPAL]
    return name


MOST_NAMES = 10_000


class Rate:
    """Allows `per_second` on average and twice that at once, for each name."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def allow(self, name: str, amount: float = 1.0) -> float:
        """Take `amount` from the bucket of `name`; return 0, or the seconds to wait before it would fit."""
        now = self._clock()
        most = max(2 * self._per_second, amount)
        level, seen = self._buckets.pop(name, (most, now))
        level = min(most, level + (now - seen) * self._per_second)
        enough = level >= amount
        self._buckets[name] = (level - amount if enough else level, now)
        if len(self._buckets) > MOST_NAMES:
            self._buckets.pop(next(iter(self._buckets)))
        return 0.0 if enough else (amount - level) / self._per_second


LIFETIME = 60.0
CODE_LIFETIME = 600.0
MOST = 1000


class OneTimeTokens:
    """Tokens that open one session once, within a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, lifetime: float = LIFETIME) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}

    def mint(self, session: str) -> str:
        """Return a token for the session with this secret id."""
        now = self._clock()
        alive = {token: kept for token, kept in self._tokens.items() if kept[1] > now}
        self._tokens = dict(list(alive.items())[-MOST + 1 :])
        token = secret_id()
        self._tokens[token] = (session, now + self._lifetime)
        return token

    def valid(self, token: str) -> bool:
        """Return whether the token could be spent now."""
        session, until = self._tokens.get(token, ("", 0.0))
        return bool(session) and until > self._clock()

    def spend(self, token: str) -> str | None:
        """Use the token up; return its session's secret id if it was still good."""
        session, until = self._tokens.pop(token, ("", 0.0))
        return session if session and until > self._clock() else None
