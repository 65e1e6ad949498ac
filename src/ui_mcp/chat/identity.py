"""Principals with scopes, access tokens, and authentication of callers."""

import secrets
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from types import MappingProxyType
from typing import Literal

from ui_mcp.chat.message import Clock, now_us
from ui_mcp.chat.store import Token, Tokens
from ui_mcp.errors import ChatError
from ui_mcp.lazy_dataclass import dataclass

Role = Literal["human", "agent", "orchestrator", "observer", "admin"]
READ = "chat.read"
POST_USER = "chat.post.user"
POST_ASSISTANT = "chat.post.assistant"
ADMIN = "admin"
_HUMAN = {READ, POST_USER, "approvals.read", "approvals.decide", "policy.read", "policy.approve"}
_AGENT = {READ, POST_ASSISTANT, "tools.call", "loop", "approvals.read", "policy.read", "policy.propose"}

ROLES: Mapping[Role, frozenset[str]] = MappingProxyType(
    {
        "human": frozenset(_HUMAN),
        "agent": frozenset(_AGENT),
        "orchestrator": frozenset({*_AGENT, "events.write"}),
        "observer": frozenset({READ}),
        "admin": frozenset({READ, ADMIN}),
    }
)


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated identity; `name` is the subscriber, which stays the same when its token is rotated."""

    name: str
    scopes: frozenset[str]

    def require(self, scope: str) -> None:
        """Check that the principal has `scope`.

        Raises:
            ChatError: forbidden.
        """
        if scope not in self.scopes:
            raise ChatError(f"{self.name} may not do this: scope {scope} is missing", "forbidden", scope=scope)


def principal(name: str, role: Role) -> Principal:
    """Return a principal with the scopes of a role."""
    return Principal(name, ROLES[role])


GRACE_SECONDS = 600.0
CODE_SECONDS = 600.0
_PREFIX = "uimcp"
_CODE = "code:"
_GRANTS = "grants:"
_US = 1_000_000


class AccessTokens:
    """Creates, rotates, revokes and verifies the tokens of one store."""

    def __init__(self, store: Tokens, clock: Clock = now_us) -> None:
        self._store = store
        self._clock = clock

    async def create(self, name: str, scopes: frozenset[str], *, subscriber: str | None = None) -> str:
        """Create a token and return its text, which is not stored and cannot be shown again.

        Raises:
            ChatError: the name is invalid or in use.
        """
        if not name or name.startswith(_CODE):
            raise ChatError(f"A token cannot be named {name!r}", "invalid_argument", name=name)
        if any(token.name == name and token.valid_at(self._clock()) for token in await self._store.tokens()):
            raise ChatError(f"There is a token named {name!r}; rotate or revoke it", "invalid_argument", name=name)
        return await self._add(name, subscriber or name, scopes)

    async def rotate(self, name: str, grace: float = GRACE_SECONDS) -> str:
        """Create a new token for the same subscriber; the old one stays valid for `grace` seconds.

        Raises:
            ChatError: no valid token has this name.
        """
        old = await self._valid(name)
        await self._store.end_tokens(name, self._clock() + int(grace * _US))
        return await self._add(name, old.subscriber, old.scopes)

    async def code(self, name: str, seconds: float = CODE_SECONDS) -> str:
        """Create a code that can be exchanged once, within `seconds`, for a further token with the rights of `name`.

        Raises:
            ChatError: no valid token has this name.
        """
        like = await self._valid(name)
        expires = self._clock() + int(seconds * _US)
        # Prefixed scopes grant nothing while this is a code.
        scopes = frozenset(f"{_GRANTS}{scope}" for scope in like.scopes)
        return await self._add(f"{_CODE}{secrets.token_hex(6)}:{name}", like.subscriber, scopes, expires)

    async def exchange(self, code: str) -> str | None:
        """Exchange a code for a token; None if the code is unknown, used or expired."""
        found = await self._known(code)
        # end_tokens counts what it ended: of concurrent exchanges only one gets a token.
        if found is None or not found.name.startswith(_CODE) or not await self._store.end_tokens(found.name, 0):
            return None
        scopes = frozenset(scope.removeprefix(_GRANTS) for scope in found.scopes)
        return await self._add(found.name.split(":", 2)[2], found.subscriber, scopes)

    async def revoke(self, name: str) -> None:
        """Revoke every token of that name now.

        Raises:
            ChatError: no valid token has this name.
        """
        await self._valid(name)
        await self._store.end_tokens(name, self._clock())

    async def listed(self) -> Sequence[tuple[Token, bool]]:
        """Return every token and whether it is still valid; without codes."""
        now = self._clock()
        tokens = [token for token in await self._store.tokens() if not token.name.startswith(_CODE)]
        return [(token, token.valid_at(now)) for token in tokens]

    async def verify(self, text: str) -> str | None:
        """Return the id of the token with this text, or None if it is not valid."""
        found = await self._known(text)
        return found.id if found and not found.name.startswith(_CODE) else None

    async def _known(self, text: str) -> Token | None:
        prefix, _, rest = text.partition("_")
        token_id, _, secret = rest.partition("_")
        found = await self._store.token(token_id) if prefix == _PREFIX else None
        # Compare also for an unknown id, so that the response time does not reveal which ids exist.
        known = found[1] if found else b"\0" * 32
        same = compare_digest(_digest(secret), known)
        return found[0] if found and same and found[0].valid_at(self._clock()) else None

    async def holder(self, token_id: str) -> Principal | None:
        """Return the principal of a token, or None if it is not valid."""
        found = await self._store.token(token_id)
        return Principal(found[0].subscriber, found[0].scopes) if found and found[0].valid_at(self._clock()) else None

    async def _valid(self, name: str) -> Token:
        now = self._clock()
        good = [token for token in await self._store.tokens() if token.name == name and token.valid_at(now)]
        if not good:
            raise ChatError(f"No valid token is named {name!r}; see: ui-mcp token list", "invalid_argument", name=name)
        return good[-1]

    async def _add(self, name: str, subscriber: str, scopes: frozenset[str], expires: int | None = None) -> str:
        token = Token(secrets.token_hex(6), name, subscriber, scopes, self._clock(), expires)
        secret = secrets.token_urlsafe(32)
        await self._store.add_token(token, _digest(secret))
        return f"{_PREFIX}_{token.id}_{secret}"


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


LOCAL = "local"
_TOKEN = "token:"  # noqa: S105 - a prefix, not a secret
_CACHE_SECONDS = 1.0


class Authenticator:
    """Authenticates the callers of one chat server, by token or as the local principal.

    Without tokens every client that can connect is the local principal. Once a valid token with `open_scope` exists,
    or from the start with `always`, every client must present a token.
    """

    def __init__(self, keys: AccessTokens, local: Principal, *, open_scope: str = "", always: bool = False) -> None:
        self._keys = keys
        self._local = local
        self._open_scope = open_scope
        self._always = always
        self._cached = (-_CACHE_SECONDS, False)

    async def authenticate(self, bearer: str | None) -> str | None:
        """Return the name to attach to a request with this bearer token, or None to reject the request."""
        if bearer is None:
            return None if await self._requires_token() else LOCAL
        token_id = await self._keys.verify(bearer)
        return f"{_TOKEN}{token_id}" if token_id else None

    async def of(self, name: str) -> Principal:
        """Return the principal for the name attached to a request; without scopes if its token is no longer valid."""
        if name.startswith(_TOKEN):
            return await self._keys.holder(name.removeprefix(_TOKEN)) or Principal("anonymous", frozenset())
        return self._local

    async def _requires_token(self) -> bool:
        if self._always:
            return True
        checked_at, required = self._cached
        if time.monotonic() - checked_at >= _CACHE_SECONDS:
            tokens = await self._keys.listed()
            required = any(good and self._open_scope in token.scopes for token, good in tokens)
            self._cached = (time.monotonic(), required)
        return required
