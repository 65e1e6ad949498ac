"""Hooks that run before each sampling, among them the one that reports changes of upstream servers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.jsontypes import JsonObject, dumps


@dataclass(frozen=True, slots=True)
class Inject:
    """Add a text for the model, as a message of the user's side; the text says where it comes from."""

    text: str


@dataclass(frozen=True, slots=True)
class EndTurn:
    """End the turn without sampling."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Replace the earlier conversation by a summary; the journal keeps all of it."""

    summary: str


HandlerDecision = Inject | EndTurn | Compact


class Handler(Protocol):
    """A hook that runs before each sampling."""

    async def before(self, writer: JournalWriter) -> HandlerDecision | None:
        """Return a decision, or None to leave it to the next handler."""
        ...


async def run_handlers(handlers: Sequence[Handler], writer: JournalWriter) -> bool:
    """Carry out the first decision of a handler; return whether it ends the turn."""
    for handler in handlers:
        decision = await handler.before(writer)
        match decision:
            case None:
                continue
            case Inject(text):
                await writer.write(NewEvent("injected", {"text": text}))
            case Compact(summary):
                await writer.write(NewEvent("compacted", {"text": summary}))
            case EndTurn():
                return True
            case _:
                assert_never(decision)
        return False
    return False


HEAD = "[Announced by connected servers, not written by the person]"

MAX_URIS = 200
"""Most URIs reported per server; for more changes only `list_changed` is reported."""

OnChange = Callable[[str, str | None], None]
"""Takes a server and the URI of its changed resource; None means that its list of resources changed."""


@dataclass(slots=True)
class _Changes:
    updated: dict[str, None] = field(default_factory=dict)
    list_changed: bool = False

    def as_json(self) -> JsonObject:
        updated: JsonObject = {"updated": list(self.updated)}
        return {**updated, "list_changed": True} if self.list_changed else updated


class UpstreamChanges:
    """A handler that reports changed resources of connected servers to the model."""

    def __init__(self, listen: Callable[[OnChange], object]) -> None:
        self._servers: dict[str, _Changes] = {}
        listen(self._on_change)

    async def before(self, writer: JournalWriter) -> Inject | None:
        """Return the changes since the last call as a message."""
        if not self._servers:
            return None
        resources = {server: changes.as_json() for server, changes in self._servers.items()}
        self._servers = {}
        return Inject(f"{HEAD}\n{dumps({'resources': resources})}")

    def _on_change(self, server: str, uri: str | None) -> None:
        changes = self._servers.setdefault(server, _Changes())
        if uri is None or len(changes.updated) >= MAX_URIS:
            changes.list_changed = True
        else:
            changes.updated[uri] = None
