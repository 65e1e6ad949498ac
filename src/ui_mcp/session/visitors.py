"""Which browser may open which session.

A visitor is known by a random value of its own. The id of a session, which is in addresses, proves nothing.
"""

import hashlib
from collections import OrderedDict

from ui_mcp.ids import secret_id
from ui_mcp.ui.sessions.session import Session

MOST = 10_000
"""Visitors that are remembered; the one that has been away longest makes room."""


class Visitors:
    """The visitors of one server, and the sessions each has been let in to, the latest last."""

    def __init__(self) -> None:
        self._admitted: OrderedDict[bytes, dict[str, None]] = OrderedDict()

    def admit(self, visitor: str | None, session: Session) -> str:
        """Let a visitor into a session; return its value, which is a new one unless this one is ours."""
        if visitor is None or _digest(visitor) not in self._admitted:
            visitor = secret_id()
        sessions = self._admitted.setdefault(_digest(visitor), {})
        sessions.pop(session.secret, None)
        sessions[session.secret] = None
        self._admitted.move_to_end(_digest(visitor))
        while len(self._admitted) > MOST:
            self._admitted.popitem(last=False)
        return visitor

    def may_open(self, visitor: str | None, session: Session) -> bool:
        """Say whether a visitor has been let in to this session."""
        return visitor is not None and session.secret in self._admitted.get(_digest(visitor), {})

    def latest(self, visitor: str | None) -> list[str]:
        """Return the ids of a visitor's sessions, the latest first; some may have ended."""
        return [] if visitor is None else list(reversed(self._admitted.get(_digest(visitor), {})))


def _digest(visitor: str) -> bytes:
    # Looked up by digest, so that the time it takes tells nothing about the values we know.
    return hashlib.sha256(visitor.encode("utf-8", "replace")).digest()
