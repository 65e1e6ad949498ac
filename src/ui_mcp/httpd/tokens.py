"""One-time tokens for WebSockets of pages whose Origin proves nothing, and one-time codes that let a browser in."""

import time
from collections.abc import Callable

from ui_mcp.ids import secret_id

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
        """Say whether the token could be spent now."""
        session, until = self._tokens.get(token, ("", 0.0))
        return bool(session) and until > self._clock()

    def spend(self, token: str) -> str | None:
        """Use the token up; return its session's secret id if it was still good."""
        session, until = self._tokens.pop(token, ("", 0.0))
        return session if session and until > self._clock() else None
