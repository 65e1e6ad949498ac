"""Seals what a client carries for us between two calls, so that it can be neither made up nor used for another call."""

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from ui_mcp.gateway.approvals.model import Approval
from ui_mcp.jsontypes import Json, dumps, loads

_LIFE = 3_600.0


@dataclass(frozen=True, slots=True)
class Seal:
    """Signs with one key; the seal names the question, the exact call, the caller and a time."""

    key: bytes

    def close(self, row: Approval) -> str:
        """Return a sealed text that stands for one question."""
        until = min(row.expires_at, time.time() + _LIFE)
        facts = dumps([row.id, row.digest, row.principal, row.connection, until]).encode()
        return f"{urlsafe_b64encode(facts).decode()}.{self._sign(facts)}"

    def fits(self, sealed: str, row: Approval) -> bool:
        """Say whether a text was sealed by us for exactly this question and still holds."""
        return self._opened(sealed)[:4] == [row.id, row.digest, row.principal, row.connection]

    def connection(self, sealed: str, principal: str) -> str | None:
        """Return the connection that was given a sealed text: only it can bring that back."""
        match self._opened(sealed):
            case [_, _, owner, str(connection), _] if owner == principal:
                return connection
            case _:
                return None

    def _opened(self, sealed: str) -> list[Json]:
        """Return the facts of a text that we sealed and that still holds, else nothing."""
        try:
            body, _, signature = sealed.partition(".")
            facts = urlsafe_b64decode(body.encode())
            if not hmac.compare_digest(signature.encode(), self._sign(facts).encode()):
                return []
            opened: list[Json] = loads(facts)
        except ValueError:
            return []
        return opened if len(opened) == 5 and time.time() < opened[4] else []

    def _sign(self, facts: bytes) -> str:
        return hmac.new(self.key, facts, sha256).hexdigest()
