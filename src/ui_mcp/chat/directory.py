"""Turns what a transport knows about a caller into a principal."""

import time

from ui_mcp.chat.identity import Principal
from ui_mcp.chat.tokens import Keys

LOCAL = "local"
_TOKEN = "token:"  # noqa: S105 - a prefix, not a secret
_REMEMBER_SECONDS = 1.0


class Directory:
    """Knows the callers of one face: holders of tokens, and whoever the transport vouches for.

    A face without tokens is open to whoever reaches it. With the first token for its side it asks everyone for one,
    or from the start when that is wished for.
    """

    def __init__(self, keys: Keys, local: Principal, *, open_scope: str = "", always: bool = False) -> None:
        self._keys = keys
        self._local = local
        self._open_scope = open_scope
        self._always = always
        self._looked = (-_REMEMBER_SECONDS, False)

    async def admit(self, bearer: str | None) -> str | None:
        """Return the name to put on a request with this bearer token, or None to turn it away."""
        if bearer is None:
            return None if await self._locked() else LOCAL
        token_id = await self._keys.recognise(bearer)
        return f"{_TOKEN}{token_id}" if token_id else None

    async def of(self, name: str) -> Principal:
        """Return the principal behind the name on a request; one whose token ended may do nothing."""
        if name.startswith(_TOKEN):
            return await self._keys.holder(name.removeprefix(_TOKEN)) or Principal("nobody", frozenset())
        return self._local

    async def _locked(self) -> bool:
        if self._always:
            return True
        looked, locked = self._looked
        if time.monotonic() - looked >= _REMEMBER_SECONDS:
            tokens = await self._keys.listed()
            locked = any(good and self._open_scope in token.scopes for token, good in tokens)
            self._looked = (time.monotonic(), locked)
        return locked
