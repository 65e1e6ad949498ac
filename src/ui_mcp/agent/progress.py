"""How far an agent has come with what people wrote: what no model has been shown, and whether a turn is open."""

from dataclasses import dataclass

from ui_mcp.agent.timeline import StoredEvent


@dataclass(frozen=True, slots=True)
class Fresh:
    """A message that no sampling has seen."""

    id: int
    size: int


class Progress:
    """Grows event by event; the same events always lead to the same answers."""

    def __init__(self) -> None:
        self.fresh: list[Fresh] = []
        self.turn = 0
        """The event that opened the present turn, or 0."""

    def take(self, event: StoredEvent) -> None:
        """Note one more event."""
        match event.type:
            case "user_text":
                self.fresh.append(Fresh(event.id, len(event.data["text"])))
                self.turn = self.turn or event.id
            case "resumed":
                self.turn = self.turn or event.id
            case "assistant_text":
                self._seen(event)
            case "ui_end_turn":
                self._seen(event)
                # What came too late for the last sampling opens the next turn.
                self.turn = self.fresh[0].id if self.fresh else 0
            case "rewind":
                self.fresh, self.turn = [], 0

    @property
    def fresh_size(self) -> int:
        """Characters nobody has shown to the model."""
        return sum(one.size for one in self.fresh)

    def _seen(self, event: StoredEvent) -> None:
        seen = event.data.get("seen", event.id)
        self.fresh = [one for one in self.fresh if one.id > seen]
