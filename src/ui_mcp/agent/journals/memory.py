"""A journal that is forgotten with the process: for a question that needs no tomorrow, and for tests."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from ui_mcp.agent.journal import Happened, Lease, Life, is_gone
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import LeaseLostError
from ui_mcp.jsontypes import JsonObject


class MemoryJournal:
    """Keeps the rules of a journal for one process."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self._events: dict[str, list[StoredEvent]] = {}
        self._marks: dict[str, str] = {}
        self._leases: dict[str, tuple[Lease, float]] = {}

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        """Return the lease if nobody else holds a live one."""
        now = self._clock().timestamp()
        held, until = self._leases.get(agent, (Lease(holder, 1), 0.0))
        if held.holder != holder and until > now and not is_gone(held.holder):
            return None
        lease = held if held.holder == holder else Lease(holder, held.fence + 1)
        self._leases[agent] = lease, now + seconds
        return lease

    async def drop_lease(self, agent: str, lease: Lease) -> None:
        """Let others have it at once."""
        if self._leases.get(agent, (None, 0))[0] == lease:
            self._leases[agent] = lease, 0.0

    async def append(self, agent: str, lease: Lease, events: Sequence[Happened]) -> list[StoredEvent]:
        """Store events."""
        self._prove(agent, lease)
        return [self._store(agent, event) for event in events]

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        """Store inbox messages and move the watermark."""
        self._prove(agent, lease)
        known = {event.data.get("message_id") for event in self._events.get(agent, []) if event.type == "user_text"}
        new = [message for message in messages if message["message_id"] not in known]
        self._marks[agent] = watermark
        return [self._store(agent, Happened("user_text", message)) for message in new]

    async def watermark(self, agent: str) -> str | None:
        """Return the id of the last inbox message that was taken."""
        return self._marks.get(agent)

    async def events(self, agent: str, after: int = 0) -> list[StoredEvent]:
        """Return the events after an id, in order."""
        return self._events.get(agent, [])[after:]

    async def lives(self) -> list[Life]:
        """Return every agent that has lived through something, the newest first."""
        lives = [_life(agent, events) for agent, events in self._events.items() if events]
        return sorted(lives, key=lambda life: life.ended, reverse=True)

    async def forget(self, agent: str) -> bool:
        """Remove everything about an agent."""
        self._marks.pop(agent, None)
        self._leases.pop(agent, None)
        return bool(self._events.pop(agent, None))

    async def close(self) -> None:
        """Hold nothing that needs closing."""

    def _prove(self, agent: str, lease: Lease) -> None:
        if self._leases.get(agent, (None, 0))[0] != lease:
            raise LeaseLostError(f"Another orchestrator runs agent {agent!r} now; this one stops", agent=agent)

    def _store(self, agent: str, event: Happened) -> StoredEvent:
        events = self._events.setdefault(agent, [])
        ts = self._clock().isoformat(timespec="microseconds").replace("+00:00", "Z")
        events.append(StoredEvent(len(events) + 1, ts, event.type, event.data))
        return events[-1]


def _life(agent: str, events: Sequence[StoredEvent]) -> Life:
    first = next((event.data["text"] for event in events if event.type == "user_text"), "")
    return Life(agent, first, events[0].ts, events[-1].ts, len(events))
