"""What may happen before the model is asked: handlers in order, the first with an opinion decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, assert_never

from ui_mcp.agent.journal import Happened
from ui_mcp.agent.journal_writer import Scribe


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


Opinion = Inject | EndTurn | Compact


class Handler(Protocol):
    """Looks at the conversation before each sampling."""

    async def before(self, scribe: Scribe) -> Opinion | None:
        """Return what should happen, or None to leave it to the next handler."""
        ...


async def ask_handlers(handlers: Sequence[Handler], scribe: Scribe) -> bool:
    """Do what the first handler with an opinion says; return whether the turn is over."""
    for handler in handlers:
        opinion = await handler.before(scribe)
        match opinion:
            case None:
                continue
            case Inject(text):
                await scribe.write(Happened("injected", {"text": text}))
            case Compact(summary):
                await scribe.write(Happened("compacted", {"text": summary}))
            case EndTurn():
                return True
            case _:
                assert_never(opinion)
        return False
    return False
