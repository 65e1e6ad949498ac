"""What the answers of a conversation have taken: tokens, and money where the price is known."""

from dataclasses import dataclass

from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class Spending:
    """Sums over answers; also of those that were edited away, which were paid for too."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    """None: no answer had a price."""
    currency: str = ""
    unpriced: int = 0
    """Tokens whose price is not known; `cost` leaves them out."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, usage: JsonObject) -> "Spending":
        """Return the sums with one more answer, as the journal keeps its usage."""
        given, made = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
        cost = usage.get("cost")
        return Spending(
            self.input_tokens + given,
            self.output_tokens + made,
            self.cached_tokens + usage.get("cached_tokens", 0),
            self.cost if cost is None else (self.cost or 0.0) + cost,
            usage.get("currency") or self.currency,
            self.unpriced + (given + made if cost is None else 0),
        )

    def after(self, event: StoredEvent) -> "Spending":
        """Return the sums after an event of the journal."""
        usage = event.data.get("usage") if event.type == "assistant_text" else None
        return self.plus(usage) if usage else self

    def as_json(self) -> JsonObject:
        known = {"cost": self.cost, "currency": self.currency} if self.cost is not None else {}
        partly = {"unpriced": self.unpriced} if self.cost is not None and self.unpriced else {}
        counts = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        return {**counts, **({"cached_tokens": self.cached_tokens} if self.cached_tokens else {}), **known, **partly}
