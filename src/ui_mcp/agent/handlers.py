"""Hooks before sampling, upstream changes among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.jsontypes import JsonObject, dumps


@dataclass(frozen=True, slots=True)
class Inject:
    """Tell the model something, as one message of the user's side that says what it is."""

    text: str


@dataclass(frozen=True, slots=True)
class EndTurn:
    """Do not ask the model; the turn is over."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Go on with a summary instead of everything said before; the journal keeps it all."""

    summary: str


HandlerDecision = Inject | EndTurn | Compact


class Handler(Protocol):
    """Looks at the conversation before each sampling."""

    async def before(self, scribe: JournalWriter) -> HandlerDecision | None:
        """Return what should happen, or None to leave it to the next handler."""
        ...


async def run_handlers(handlers: Sequence[Handler], scribe: JournalWriter) -> bool:
    """Do what the first handler with an opinion says; return whether the turn is over."""
    for handler in handlers:
        opinion = await handler.before(scribe)
        match opinion:
            case None:
                continue
            case Inject(text):
                await scribe.write(NewEvent("injected", {"text": text}))
            case Compact(summary):
                await scribe.write(NewEvent("compacted", {"text": summary}))
            case EndTurn():
                return True
            case _:
                assert_never(opinion)
        return False
    return False


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


class UpstreamChanges:
    """A handler that tells the model of changes before it is asked."""

    def __init__(self, listen: Callable[[Hear], object]) -> None:
        self._servers: dict[str, _Changes] = {}
        listen(self._heard)

    async def before(self, scribe: JournalWriter) -> Inject | None:
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
