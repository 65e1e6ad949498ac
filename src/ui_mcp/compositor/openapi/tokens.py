"""OAuth 2 tokens: fetched when needed, renewed a minute early, one renewal at a time."""

import base64
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import anyio

from ui_mcp.errors import UpstreamError
from ui_mcp.jsontypes import Json, JsonObject

_EARLY = 60.0
Post = Callable[[str, Mapping[str, str], Mapping[str, str]], Awaitable[tuple[int, Json]]]
"""Sends a form (url, fields, headers) and returns status and JSON."""


@dataclass(frozen=True, slots=True)
class Grant:
    """How tokens are obtained."""

    token_url: str
    client_id: str
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    audience: str = ""
    refresh_token: str = ""
    client_auth: Literal["basic", "post"] = "basic"


@dataclass(frozen=True, slots=True)
class _Token:
    value: str
    until: float


class Tokens:
    """Holds the tokens of one API in memory."""

    def __init__(self, post: Post, now: Callable[[], float] = time.monotonic) -> None:
        self._post = post
        self._now = now
        self._held: dict[Grant, _Token] = {}
        self._rotated: dict[Grant, str] = {}
        self._locks: dict[Grant, anyio.Lock] = {}

    def secrets(self) -> Iterable[str]:
        """Return the values nobody may see."""
        return [*(token.value for token in self._held.values()), *self._rotated.values()]

    async def token(self, grant: Grant, *, renew: bool = False) -> str:
        """Return a token that is valid for a while; `renew` does not trust the held one.

        Raises:
            UpstreamError: the token endpoint refused.
        """
        before = self._held.get(grant)
        async with self._locks.setdefault(grant, anyio.Lock()):
            held = self._held.get(grant)
            fresh = held is not None and self._now() < held.until - _EARLY
            renewed_meanwhile = held is not before
            if held is None or not fresh or (renew and not renewed_meanwhile):
                held = self._held[grant] = await self._fetch(grant)
            return held.value

    async def _fetch(self, grant: Grant) -> _Token:
        fields, headers = _form(grant, self._rotated.get(grant, grant.refresh_token))
        status, answer = await self._post(grant.token_url, fields, headers)
        if status >= 400 or not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
            reason = answer.get("error_description") or answer.get("error") if isinstance(answer, dict) else ""
            raise UpstreamError(f"{grant.token_url} gave no token: HTTP {status} {reason or ''}".rstrip())
        if isinstance(answer.get("refresh_token"), str):
            self._rotated[grant] = answer["refresh_token"]
        return _Token(answer["access_token"], self._now() + _lifetime(answer))


def _form(grant: Grant, refresh_token: str) -> tuple[dict[str, str], dict[str, str]]:
    fields = {"grant_type": "refresh_token" if refresh_token else "client_credentials"}
    if refresh_token:
        fields["refresh_token"] = refresh_token
    if grant.scopes:
        fields["scope"] = " ".join(grant.scopes)
    if grant.audience:
        fields["audience"] = grant.audience
    if grant.client_auth == "post" or not grant.client_secret:
        secret = {"client_secret": grant.client_secret} if grant.client_secret else {}
        return fields | {"client_id": grant.client_id} | secret, {}
    pair = base64.b64encode(f"{grant.client_id}:{grant.client_secret}".encode()).decode()
    return fields, {"Authorization": f"Basic {pair}"}


def _lifetime(answer: JsonObject) -> float:
    try:
        return max(float(answer.get("expires_in", 3600)), _EARLY + 1)
    except (TypeError, ValueError):
        return 3600.0
