"""The Journal protocol with its leases, and the in-memory journal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.errors import LeaseLostError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.storage.leases import Lease, is_gone


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to append; the journal assigns its id and time."""

    type: str
    data: JsonObject


@dataclass(frozen=True, slots=True)
class Label:
    """What a person has set for the list of conversations."""

    title: str = ""
    """Empty: the beginning of the first message."""
    pinned: bool = False
    archived: bool = False
    folder: str = ""
    """Empty: in no folder."""


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """One entry of the list of agents."""

    agent: str
    first_text: str
    """The first message by a person."""
    began: str
    ended: str
    """Time of the newest event."""
    events: int
    label: Label = Label()


@dataclass(frozen=True, slots=True)
class Found:
    """A message that was found, in which conversation."""

    agent: str
    text: str


RequestKind = Literal["stop", "resume"]


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """What a person asks of an agent that another process may serve."""

    kind: RequestKind
    newest: int
    """Id of the newest event at the time of the request: a turn that began later is not meant, except by `head`."""
    head: str = ""
    """Id of the newest message by a person at that time: the turn that answers it is meant, also if it began later."""


class Journal(Protocol):
    """An append-only list of events per agent; every write checks that the writer still holds the lease.

    Every method raises JournalError if the storage fails; then nothing has been written.
    """

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        """Return a lease for `seconds`, or None if another live process holds one; call again to renew it."""
        ...

    async def drop_lease(self, agent: str, lease: Lease) -> None:
        """Release the lease, so that another process can take it at once."""
        ...

    async def append(self, agent: str, lease: Lease, events: Sequence[NewEvent]) -> list[StoredEvent]:
        """Store events in one transaction.

        Raises:
            LeaseLostError: another process has the lease.
        """
        ...

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        """Store inbox messages as `user_text` events and the watermark in one transaction; known messages are skipped.

        Raises:
            LeaseLostError: another process has the lease.
        """
        ...

    async def watermark(self, agent: str) -> str | None:
        """Return the id of the last inbox message that was stored."""
        ...

    async def events(self, agent: str, after: int = 0) -> list[StoredEvent]:
        """Return the events after an id, in order."""
        ...

    async def ask(self, agent: str, kind: RequestKind, head: str = "") -> bool:
        """Store a request for the process that serves an agent; return whether one does. The last request counts.

        `head` is the id of the newest message in the chat that a person wrote.
        """
        ...

    async def take_request(self, agent: str) -> AgentRequest | None:
        """Return the request for an agent, once."""
        ...

    async def list_agents(self) -> list[AgentSummary]:
        """Return every agent that has events, the most recently active first."""
        ...

    async def set_label(self, agent: str, label: Label) -> None:
        """Store the label of an agent."""
        ...

    async def search(self, words: str, limit: int) -> list[Found]:
        """Return messages that contain `words`, in any case, at most one of each agent."""
        ...

    async def delete_agent(self, agent: str) -> bool:
        """Delete all data of an agent; return whether there were events."""
        ...

    async def close(self) -> None:
        """Close files and connections."""
        ...


class MemoryJournal:
    """A journal in memory, for one process."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self._events: dict[str, list[StoredEvent]] = {}
        self._marks: dict[str, str] = {}
        self._leases: dict[str, tuple[Lease, float]] = {}
        self.requests: dict[str, AgentRequest] = {}
        self._labels: dict[str, Label] = {}

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        now = self._clock().timestamp()
        held, until = self._leases.get(agent, (Lease(holder, 1), 0.0))
        if held.holder != holder and until > now and not is_gone(held.holder):
            return None
        lease = held if held.holder == holder else Lease(holder, held.fence + 1)
        self._leases[agent] = lease, now + seconds
        return lease

    async def drop_lease(self, agent: str, lease: Lease) -> None:
        if self._leases.get(agent, (None, 0))[0] == lease:
            self._leases[agent] = lease, 0.0

    async def append(self, agent: str, lease: Lease, events: Sequence[NewEvent]) -> list[StoredEvent]:
        self._check_lease(agent, lease)
        return [self._store(agent, event) for event in events]

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        self._check_lease(agent, lease)
        known = {event.data.get("message_id") for event in self._events.get(agent, []) if event.type == "user_text"}
        new = [message for message in messages if message["message_id"] not in known]
        self._marks[agent] = watermark
        return [self._store(agent, NewEvent("user_text", message)) for message in new]

    async def watermark(self, agent: str) -> str | None:
        return self._marks.get(agent)

    async def events(self, agent: str, after: int = 0) -> list[StoredEvent]:
        return self._events.get(agent, [])[after:]

    async def ask(self, agent: str, kind: RequestKind, head: str = "") -> bool:
        held, until = self._leases.get(agent, (None, 0.0))
        if held is None or until <= self._clock().timestamp():
            return False
        self.requests[agent] = AgentRequest(kind, len(self._events.get(agent, [])), head)
        return True

    async def take_request(self, agent: str) -> AgentRequest | None:
        return self.requests.pop(agent, None)

    async def list_agents(self) -> list[AgentSummary]:
        summaries = [
            _summary(agent, events, self._labels.get(agent, Label()))
            for agent, events in self._events.items()
            if events
        ]
        return sorted(summaries, key=lambda summary: summary.ended, reverse=True)

    async def set_label(self, agent: str, label: Label) -> None:
        self._labels[agent] = label

    async def search(self, words: str, limit: int) -> list[Found]:
        found = {
            agent: Found(agent, text)
            for agent, events in self._events.items()
            for text in map(text_of, events)
            if words.casefold() in text.casefold()
        }
        return list(found.values())[:limit]

    async def delete_agent(self, agent: str) -> bool:
        self._labels.pop(agent, None)
        self._marks.pop(agent, None)
        self._leases.pop(agent, None)
        return bool(self._events.pop(agent, None))

    async def close(self) -> None:
        pass

    def _check_lease(self, agent: str, lease: Lease) -> None:
        if self._leases.get(agent, (None, 0))[0] != lease:
            raise LeaseLostError(f"Another orchestrator runs agent {agent!r} now; this one stops", agent=agent)

    def _store(self, agent: str, event: NewEvent) -> StoredEvent:
        events = self._events.setdefault(agent, [])
        ts = self._clock().isoformat(timespec="microseconds").replace("+00:00", "Z")
        events.append(StoredEvent(len(events) + 1, ts, event.type, event.data))
        return events[-1]


def text_of(event: StoredEvent) -> str:
    """Return the text of a message, "" for other events."""
    return str(event.data.get({"user_text": "text", "ui_message": "md"}.get(event.type, ""), ""))


def _summary(agent: str, events: Sequence[StoredEvent], label: Label) -> AgentSummary:
    first = next((event.data["text"] for event in events if event.type == "user_text"), "")
    return AgentSummary(agent, first, events[0].ts, events[-1].ts, len(events), label)
