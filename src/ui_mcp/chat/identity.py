"""Who asks, and what they may do: principals, scopes, roles."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ui_mcp.errors import ChatError

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
    """An authenticated identity; `name` is the subscriber that keeps its place over token rotation."""

    name: str
    scopes: frozenset[str]

    def require(self, scope: str) -> None:
        """Refuse whoever lacks `scope`.

        Raises:
            ChatError: forbidden.
        """
        if scope not in self.scopes:
            raise ChatError(f"{self.name} may not do this: scope {scope} is missing", "forbidden", scope=scope)


def principal(name: str, role: Role) -> Principal:
    """Return a principal with the scopes of a role."""
    return Principal(name, ROLES[role])
