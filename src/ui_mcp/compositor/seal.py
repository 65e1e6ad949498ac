"""Seals what a client carries for us between two calls, so that it can be neither made up nor used for another call."""

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from ui_mcp.compositor.approvals.row import Approval
from ui_mcp.jsontypes import dumps, loads

_LIFE = 3_600.0


@dataclass(frozen=True, slots=True)
class Seal:
    """Signs with one key; the seal names the question, the exact call, the caller and a time."""

    key: bytes

    def close(self, row: Approval) -> str:
        """Return a sealed text that stands for one question."""
        facts = dumps([row.id, row.digest, row.principal, min(row.expires_at, time.time() + _LIFE)]).encode()
        return f"{urlsafe_b64encode(facts).decode()}.{self._sign(facts)}"

    def fits(self, sealed: str, row: Approval) -> bool:
        """Say whether a text was sealed by us for exactly this question and still holds."""
        try:
            body, _, signature = sealed.partition(".")
            facts = urlsafe_b64decode(body.encode())
            if not hmac.compare_digest(signature.encode(), self._sign(facts).encode()):
                return False
            approval_id, digest, principal, until = loads(facts)
        except ValueError:
            return False
        return [approval_id, digest, principal] == [row.id, row.digest, row.principal] and bool(time.time() < until)

    def _sign(self, facts: bytes) -> str:
        return hmac.new(self.key, facts, sha256).hexdigest()
