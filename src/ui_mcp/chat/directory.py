"""Turns what a transport knows about a caller into a principal."""

from collections.abc import Mapping

from ui_mcp.chat.identity import Principal
from ui_mcp.chat.tokens import Keys

_TOKEN = "token:"  # noqa: S105 - a prefix, not a secret


class Directory:
    """Knows the callers of one face: holders of tokens, and whoever the transport vouches for."""

    def __init__(self, keys: Keys, local: Principal, known: Mapping[str, Principal] | None = None) -> None:
        self._keys = keys
        self._known = dict(known or {})
        self.local = local
        """Who a caller without a token is: the one at the other end of a pipe."""

    async def admit(self, bearer: str | None, *, anonymous: bool = True) -> str | None:
        """Return the name to put on a request with this bearer token, or None to turn it away."""
        if bearer is None:
            return "local" if anonymous else None
        token_id = await self._keys.recognise(bearer)
        return f"{_TOKEN}{token_id}" if token_id else None

    async def of(self, name: str) -> Principal:
        """Return the principal behind the name on a request; one whose token ended may do nothing."""
        if name.startswith(_TOKEN):
            return await self._keys.holder(name.removeprefix(_TOKEN)) or Principal("nobody", frozenset())
        return self._known.get(name, self.local)
