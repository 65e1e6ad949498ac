"""Appends to the journal, keeps the timeline in step."""

from collections.abc import Callable
from dataclasses import dataclass

from ui_mcp.agent.journal import Journal, Lease, NewEvent
from ui_mcp.agent.timeline import Delta, StoredEvent, Timeline
from ui_mcp.agent.transcript import Transcript
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class UnseenMessage:
    """A message that no sampling has seen."""

    id: int
    size: int


class ReadProgress:
    """Grows event by event; the same events always lead to the same answers."""

    def __init__(self) -> None:
        self.fresh: list[UnseenMessage] = []
        self.turn = 0
        """The event that opened the present turn, or 0."""

    def take(self, event: StoredEvent) -> None:
        """Note one more event."""
        match event.type:
            case "user_text":
                self.fresh.append(UnseenMessage(event.id, len(event.data["text"])))
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


Follower = Callable[[Delta], None]


class JournalWriter:
    """The one writer of a journal while it holds the lease."""

    def __init__(self, journal: Journal, agent: str, lease: Lease) -> None:
        self.agent = agent
        self.timeline = Timeline()
        self.progress = ReadProgress()
        self.transcript = Transcript()
        self.events: list[StoredEvent] = []
        self.deltas: list[Delta] = []
        """Every change of the timeline, the one numbered `seq` at `seq - 1`."""
        self._journal = journal
        self.lease = lease
        self._followers: list[Follower] = []
        self.watermark: str | None = None
        """How far the inbox has been read; nobody else moves it while the lease is held."""

    async def open(self) -> None:
        """Read what has been written before."""
        self.watermark = await self._journal.watermark(self.agent)
        self._take(await self._journal.events(self.agent))

    async def renew(self, lease: Lease) -> None:
        """Go on with a lease taken anew, and with what was written although we were told it was not."""
        self.lease = lease
        self.watermark = await self._journal.watermark(self.agent)
        self._take(await self._journal.events(self.agent, self.events[-1].id if self.events else 0))

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Tell `follower` of every change until the returned function is called."""
        self._followers.append(follower)
        return lambda: self._followers.remove(follower)

    async def write(self, *events: NewEvent) -> list[StoredEvent]:
        """Store events.

        Raises:
            LeaseLostError: another orchestrator has taken over.
        """
        return self._take(await self._journal.append(self.agent, self.lease, events))

    async def inject(self, messages: list[JsonObject], watermark: str) -> list[StoredEvent]:
        """Store inbox messages with the watermark; return those that were new.

        Raises:
            LeaseLostError: another orchestrator has taken over.
        """
        stored = await self._journal.inject(self.agent, self.lease, messages, watermark)
        self.watermark = watermark
        return self._take(stored)

    def _take(self, events: list[StoredEvent]) -> list[StoredEvent]:
        for event in events:
            self.events.append(event)
            self.progress.take(event)
            self.transcript.take(event)
            delta = self.timeline.take(event)
            if delta.ops:
                self.deltas.append(delta)
                for follower in list(self._followers):
                    follower(delta)
        return events
