"""Appends events to the journal and applies them to timeline, transcript and read progress."""

from collections.abc import Callable
from dataclasses import dataclass

from ui_mcp.agent.journal import Journal, NewEvent
from ui_mcp.agent.timeline import Delta, StoredEvent, Timeline
from ui_mcp.agent.transcript import Transcript
from ui_mcp.jsontypes import JsonObject
from ui_mcp.storage.leases import Lease


@dataclass(frozen=True, slots=True)
class UnseenMessage:
    """A message that no sampling has included yet; `size` in characters."""

    id: int
    size: int


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


class ReadProgress:
    """Which messages the model has not seen, and the open turn; a pure function of the events."""

    def __init__(self) -> None:
        self.unseen: list[UnseenMessage] = []
        self.turn = 0
        """Id of the event that opened the current turn, or 0."""

    def take(self, event: StoredEvent) -> None:
        match event.type:
            case "user_text":
                self.unseen.append(UnseenMessage(event.id, len(event.data["text"])))
                self.turn = self.turn or event.id
            case "resumed":
                self.turn = self.turn or event.id
            case "assistant_text":
                self._seen(event)
            case "ui_end_turn":
                self._seen(event)
                # A message that arrived too late for the last sampling opens the next turn.
                self.turn = self.unseen[0].id if self.unseen else 0
            case "rewind" | "version_shown":
                self.unseen, self.turn = [], 0

    @property
    def unseen_size(self) -> int:
        """Total size of the unseen messages, in characters."""
        return sum(one.size for one in self.unseen)

    def _seen(self, event: StoredEvent) -> None:
        seen = event.data.get("seen", event.id)
        self.unseen = [one for one in self.unseen if one.id > seen]


Follower = Callable[[Delta], None]


class JournalWriter:
    """The only writer of an agent's journal while it holds the lease."""

    def __init__(self, journal: Journal, agent: str, lease: Lease) -> None:
        self.agent = agent
        self.timeline = Timeline()
        self.progress = ReadProgress()
        self.transcript = Transcript()
        self.spent = Spending()
        self.events: list[StoredEvent] = []
        self.deltas: list[Delta] = []
        """Every change of the timeline; change `seq` is at index `seq - 1`."""
        self._journal = journal
        self.lease = lease
        self._followers: list[Follower] = []
        self.watermark: str | None = None
        """Id of the last inbox message stored; cached, because only the holder of the lease changes it."""

    async def open(self) -> None:
        """Read the existing events.

        Raises:
            JournalError: the journal cannot be read.
        """
        self.watermark = await self._journal.watermark(self.agent)
        self._take(await self._journal.events(self.agent))

    async def renew(self, lease: Lease) -> None:
        """Resume with a new lease; re-read events whose commit was reported as failed.

        Raises:
            JournalError: the journal cannot be read.
        """
        self.lease = lease
        self.watermark = await self._journal.watermark(self.agent)
        self._take(await self._journal.events(self.agent, self.events[-1].id if self.events else 0))

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Call `follower` for every change until the returned function is called."""
        self._followers.append(follower)
        return lambda: self._followers.remove(follower)

    async def write(self, *events: NewEvent) -> list[StoredEvent]:
        """Store events in one transaction.

        Raises:
            LeaseLostError: another orchestrator has taken over.
            JournalError: the journal cannot be written.
        """
        return self._take(await self._journal.append(self.agent, self.lease, events))

    async def inject(self, messages: list[JsonObject], watermark: str) -> list[StoredEvent]:
        """Store inbox messages with the watermark; return the events of those that were new.

        Raises:
            LeaseLostError: another orchestrator has taken over.
            JournalError: the journal cannot be written.
        """
        stored = await self._journal.inject(self.agent, self.lease, messages, watermark)
        self.watermark = watermark
        return self._take(stored)

    def _take(self, events: list[StoredEvent]) -> list[StoredEvent]:
        for event in events:
            self.events.append(event)
            self.progress.take(event)
            self.transcript.take(event)
            self.spent = self.spent.after(event)
            delta = self.timeline.take(event)
            if delta.ops:
                self.deltas.append(delta)
                for follower in list(self._followers):
                    follower(delta)
        return events
