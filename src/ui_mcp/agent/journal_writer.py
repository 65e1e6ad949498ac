"""Writes an agent's journal and keeps its timeline in step, telling followers of every change."""

from collections.abc import Callable

from ui_mcp.agent.journal import Happened, Journal, Lease
from ui_mcp.agent.progress import Progress
from ui_mcp.agent.timeline import Delta, StoredEvent, Timeline
from ui_mcp.agent.transcript import Transcript
from ui_mcp.jsontypes import JsonObject

Follower = Callable[[Delta], None]


class Scribe:
    """The one writer of a journal while it holds the lease."""

    def __init__(self, journal: Journal, agent: str, lease: Lease) -> None:
        self.agent = agent
        self.timeline = Timeline()
        self.progress = Progress()
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

    async def write(self, *events: Happened) -> list[StoredEvent]:
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
