"""What other servers announced since the model was asked last: gathered per server, told once, in one message."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ui_mcp.agent.handlers import Inject
from ui_mcp.agent.journal_writer import Scribe
from ui_mcp.jsontypes import JsonObject, dumps

HEAD = "[Announced by connected servers, not written by the person]"
MOST = 200
"""Addresses per server; a server that changes more is only said to have changed."""

Hear = Callable[[str, str | None], None]
"""Takes a server and the resource that changed there; None means that its list did."""


@dataclass(slots=True)
class _Changes:
    updated: dict[str, None] = field(default_factory=dict)
    list_changed: bool = False

    def as_json(self) -> JsonObject:
        told: JsonObject = {"updated": list(self.updated)}
        return {**told, "list_changed": True} if self.list_changed else told


class MountNews:
    """A handler that tells the model of changes before it is asked."""

    def __init__(self, listen: Callable[[Hear], object]) -> None:
        self._servers: dict[str, _Changes] = {}
        listen(self._heard)

    async def before(self, scribe: Scribe) -> Inject | None:
        """Tell what was gathered, and forget it."""
        if not self._servers:
            return None
        told = {server: changes.as_json() for server, changes in self._servers.items()}
        self._servers = {}
        return Inject(f"{HEAD}\n{dumps({'resources': told})}")

    def _heard(self, server: str, uri: str | None) -> None:
        changes = self._servers.setdefault(server, _Changes())
        if uri is None or len(changes.updated) >= MOST:
            changes.list_changed = True
        else:
            changes.updated[uri] = None
