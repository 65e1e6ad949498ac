"""What a person has set for one conversation: its model, instructions, temperature and budget."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

from ui_mcp.agent.journal_writer import Spending
from ui_mcp.agent.model import Reasoning
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.fields import Length, Limit
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import InvalidDataError, read, to_json

EVENT = "conversation_settings"
MAX_INSTRUCTIONS = 50_000
EXHAUSTED = (
    "The budget of this conversation is used up: {}.\n"
    "Raise it in the settings of the conversation, or start another one."
)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Another model than that of the configuration; what is empty stays as it is configured."""

    model: Annotated[str, "Name of the model; empty = the configured one.", Length(most=200)] = ""
    provider: Annotated[str, "Dialect of its server; empty = the configured server.", Length(most=40)] = ""
    api_base: Annotated[str, "Address of its server.", Length(most=500)] = ""
    api_key_env: Annotated[str, "The vendor's own environment variable with the key.", Length(most=80)] = ""


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """Settings of one conversation; they apply from its next answer on."""

    model: ModelChoice = field(default_factory=ModelChoice)
    instructions: Annotated[
        str, "What the model is told besides its own instructions.", Length(most=MAX_INSTRUCTIONS)
    ] = ""
    temperature: Annotated[float | None, "0 to 2; None = the vendor's default.", Limit(ge=0, le=2)] = None
    reasoning: Annotated[Reasoning, "How hard the model thinks; empty = as configured."] = ""
    max_cost: Annotated[float | None, "Most that all answers together may cost; None = no limit.", Limit(gt=0)] = None
    max_tokens: Annotated[int | None, "Most tokens of all answers together; None = no limit.", Limit(ge=1)] = None

    def as_json(self) -> JsonObject:
        return to_json(self)

    def exhausted(self, spent: Spending) -> str | None:
        """Return why nothing more may be spent, or None."""
        used = ""
        if self.max_cost is not None and (spent.cost or 0.0) >= self.max_cost:
            used = f"{spent.cost:.2f} of {self.max_cost:.2f} {spent.currency}"
        elif self.max_tokens is not None and spent.tokens >= self.max_tokens:
            used = f"{spent.tokens:,} of {self.max_tokens:,} tokens"
        return EXHAUSTED.format(used) if used else None


def read_settings(given: JsonObject) -> ConversationSettings:
    """Validate settings.

    Raises:
        InvalidArgumentsError: a value is invalid; the message names it.
    """
    try:
        return read(ConversationSettings, given)
    except InvalidDataError as error:
        raise InvalidArgumentsError(str(error.problems[0])) from error


def settings_of(events: Iterable[StoredEvent]) -> ConversationSettings:
    """Return the newest settings among the events."""
    newest = next((event.data for event in reversed(list(events)) if event.type == EVENT), None)
    return read_settings(newest) if newest is not None else ConversationSettings()
