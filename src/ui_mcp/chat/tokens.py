"""Tokens: made, recognised, rotated and ended; the store sees only digests."""

import secrets
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest

from ui_mcp.chat.clock import Clock, now_us
from ui_mcp.chat.identity import Principal
from ui_mcp.chat.store import Token, Tokens
from ui_mcp.errors import ChatError

GRACE_SECONDS = 600.0
CODE_SECONDS = 600.0
_PREFIX = "uimcp"
_CODE = "code:"
_GRANTS = "grants:"
_US = 1_000_000


class Keys:
    """The tokens of one store."""

    def __init__(self, store: Tokens, clock: Clock = now_us) -> None:
        self._store = store
        self._clock = clock

    async def create(self, name: str, scopes: frozenset[str], *, subscriber: str | None = None) -> str:
        """Make a token and return its text, which is shown this once and never again."""
        if not name or name.startswith(_CODE):
            raise ChatError(f"A token cannot be named {name!r}", "invalid_argument", name=name)
        if any(token.name == name and token.valid_at(self._clock()) for token in await self._store.tokens()):
            raise ChatError(f"There is a token named {name!r}; rotate or revoke it", "invalid_argument", name=name)
        return await self._add(name, subscriber or name, scopes)

    async def rotate(self, name: str, grace: float = GRACE_SECONDS) -> str:
        """Make a new token for the same subscriber; the old one stays good for `grace` seconds.

        Raises:
            ChatError: there is no such token.
        """
        old = await self._valid(name)
        await self._store.end_tokens(name, self._clock() + int(grace * _US))
        return await self._add(name, old.subscriber, old.scopes)

    async def code(self, name: str, seconds: float = CODE_SECONDS) -> str:
        """Make a code that is exchanged once, within a while, for a further token like those of `name`.

        Raises:
            ChatError: there is no such token.
        """
        like = await self._valid(name)
        expires = self._clock() + int(seconds * _US)
        scopes = frozenset(f"{_GRANTS}{scope}" for scope in like.scopes)
        return await self._add(f"{_CODE}{secrets.token_hex(6)}:{name}", like.subscriber, scopes, expires)

    async def exchange(self, code: str) -> str | None:
        """Spend a code for a token; None when it is unknown, spent or too old."""
        found = await self._known(code)
        if found is None or not found.name.startswith(_CODE) or not await self._store.end_tokens(found.name, 0):
            return None
        scopes = frozenset(scope.removeprefix(_GRANTS) for scope in found.scopes)
        return await self._add(found.name.split(":", 2)[2], found.subscriber, scopes)

    async def revoke(self, name: str) -> None:
        """End every token of that name now.

        Raises:
            ChatError: there is no such token.
        """
        await self._valid(name)
        await self._store.end_tokens(name, self._clock())

    async def listed(self) -> Sequence[tuple[Token, bool]]:
        """Return every token and whether it is still good; codes are not tokens."""
        now = self._clock()
        tokens = [token for token in await self._store.tokens() if not token.name.startswith(_CODE)]
        return [(token, token.valid_at(now)) for token in tokens]

    async def recognise(self, text: str) -> str | None:
        """Return the id of the token with this text, if it is good."""
        found = await self._known(text)
        return found.id if found and not found.name.startswith(_CODE) else None

    async def _known(self, text: str) -> Token | None:
        prefix, _, rest = text.partition("_")
        token_id, _, secret = rest.partition("_")
        found = await self._store.token(token_id) if prefix == _PREFIX else None
        known = found[1] if found else b"\0" * 32
        same = compare_digest(_digest(secret), known)
        return found[0] if found and same and found[0].valid_at(self._clock()) else None

    async def holder(self, token_id: str) -> Principal | None:
        """Return who holds a token, while it is good."""
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
