"""Runs a turn of the agent for people's messages: each message once, in order, also across crashes."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import anyio
from anyio import CancelScope
from anyio.abc import TaskGroup

from ui_mcp.agent.journal import AgentRequest, Journal, NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop
from ui_mcp.agent.timeline import RunState, StoredEvent
from ui_mcp.errors import JournalError, LeaseLostError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.storage.leases import Lease, holder_name

INTERRUPTED = "The agent was interrupted and goes on from here."
CONTINUE = "[Your last answer was cut off. Continue it exactly where it ended; do not repeat what you wrote.]"
_log = logger("agent")


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Messages of people after a cursor."""

    messages: Sequence[JsonObject]
    """Each with id, mime, content and perhaps client_id."""
    last_id: str | None
    has_more: bool


class Inbox(Protocol):
    """People's messages of a conversation, read by a client of its own and never through the agent's tools."""

    async def read(self, after: str | None, limit: int) -> InboxPage:
        """Return messages of people after a cursor."""
        ...

    async def hint(self, seconds: float) -> None:
        """Return when there may be new messages, at the latest after `seconds`."""
        ...


@dataclass(frozen=True, slots=True)
class PollSettings:
    """Intervals of lease and inbox, and the size of a batch."""

    lease_seconds: float = 15.0
    renew_seconds: float = 5.0
    poll_seconds: float = 30.0
    retry_seconds: float = 1.0
    """Pause between retries after the journal or the inbox failed."""
    request_seconds: float = 0.25
    """How often a running turn is checked for a person's request to stop it; a sleeping agent four times as rarely."""
    max_batch: int = 50
    """Most new messages in one sampling."""
    max_batch_chars: int = 65_536


class Orchestrator:
    """Serves one agent; a lease ensures that only one orchestrator does."""

    def __init__(
        self,
        agent: str,
        journal: Journal,
        inbox: Inbox,
        make_loop: Callable[[JournalWriter], Loop],
        *,
        poll: PollSettings = PollSettings(),
        ready: Callable[[JournalWriter], object] = lambda _: None,
        on_error: Callable[[str], object] = lambda _: None,
        waiting: Callable[[], object] = lambda: None,
        begin: Callable[[JournalWriter], Awaitable[object]] | None = None,
    ) -> None:
        """Prepare to serve; `begin` gets the journal before it is served, `waiting` is called while another serves."""
        self._agent = agent
        self._journal = journal
        self._inbox = inbox
        self._make_loop = make_loop
        self._poll = poll
        self._ready = ready
        self._on_error = on_error
        self._waiting = waiting
        self._begin = begin
        self._holder = holder_name()
        self._turn: CancelScope | None = None
        self._stopped = 0
        """Id of the event that opened a turn which a person has stopped before it began."""
        self._reading = anyio.Lock()
        self._news = anyio.Event()
        self._ended = anyio.Event()
        self.journal: JournalWriter | None = None
        self.state: RunState = "idle"
        """`idle` until the journal is served, then `running` during a turn and `sleeping` between turns."""

    async def run(self) -> None:
        """Take the lease, then serve the inbox until cancelled or until another orchestrator takes over.

        If the journal fails later, the turn ends and serving resumes once it works again.

        Raises:
            JournalError: the journal cannot be used at the start.
        """
        waited = False
        while True:
            lease = await self._lease()
            if lease is not None:
                break
            if not waited:
                self._waiting()
            waited = True
            await anyio.sleep(self._poll.renew_seconds)
        writer = JournalWriter(self._journal, self._agent, lease)
        await writer.open()
        if self._begin is not None:
            await self._begin(writer)
        self.journal = writer
        self._ready(writer)
        try:
            while await self._while_written(writer) and await self._renewed(writer):
                pass
        finally:
            self.state = "idle"
            with CancelScope(shield=True), suppress(JournalError):  # the lease expires anyway
                await self._journal.drop_lease(self._agent, writer.lease)

    async def _while_written(self, writer: JournalWriter) -> bool:
        """Serve until the lease is lost (return False) or the journal fails (return True)."""
        failures: list[str] = []
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_lease, tasks.cancel_scope)
                await self._serve(writer, tasks)
        except* LeaseLostError:
            _log.warning("agent %s: it was deleted, or another orchestrator has taken over", self._agent)
        except* JournalError as failed:
            failures = [message_of(failed)]
        for message in failures:
            _log.warning("agent %s waits for its journal: %s", self._agent, message)
            self._on_error(message)
        return bool(failures)

    async def _renewed(self, writer: JournalWriter) -> bool:
        """Wait until the journal works again; return whether this orchestrator still has the lease."""
        self.state = "idle"
        while True:
            await anyio.sleep(self._poll.retry_seconds)
            with suppress(JournalError):
                lease = await self._lease()
                if lease is not None:
                    await writer.renew(lease)
                return lease is not None

    async def _lease(self) -> Lease | None:
        return await self._journal.take_lease(self._agent, self._holder, self._poll.lease_seconds)

    def stop_turn(self) -> bool:
        """Stop the current turn; return whether there was one."""
        if self._turn is None:
            return False
        self._turn.cancel()
        return True

    async def end_turn(self) -> None:
        """Stop the current turn and wait until its end is written."""
        with anyio.move_on_after(self._poll.lease_seconds):
            while self.stop_turn():
                await self._ended.wait()

    def wake(self) -> None:
        """Check the journal for an open turn now, not only at the next inbox message."""
        self._news.set()

    async def _keep_lease(self, serving: CancelScope) -> None:
        while True:
            await anyio.sleep(self._poll.renew_seconds)
            if await self._lease() is None:
                _log.warning("agent %s: another orchestrator has taken over", self._agent)
                serving.cancel()
                return

    async def _serve(self, writer: JournalWriter, tasks: TaskGroup) -> None:
        loop = self._make_loop(writer)
        if writer.transcript.open_calls() and writer.events[-1].data.get("text") != INTERRUPTED:
            await writer.write(NewEvent("notice", {"level": "warning", "text": INTERRUPTED}))
        await loop.resume(tasks)
        await self._drain(writer)
        tasks.start_soon(self._listen, writer)
        tasks.start_soon(self._take_requests, writer)
        while True:
            self._news = anyio.Event()
            if writer.progress.turn:
                await self._one_turn(writer, loop, tasks)
                await self._drain(writer)
                continue
            self.state = "sleeping"
            await self._news.wait()

    async def resume(self, writer: JournalWriter) -> None:
        """Begin a turn without a new message; an answer that was cut off is continued."""
        said = [event for event in writer.events if event.type in {"assistant_text", "user_text"}]
        cut_off = bool(said) and said[-1].data.get("partial")
        continuing = [NewEvent("injected", {"text": CONTINUE})] if cut_off else []
        await writer.write(*continuing, NewEvent("resumed", {}))
        self.wake()

    async def _take_requests(self, writer: JournalWriter) -> None:
        """Stop or begin a turn when a person asks for it in another process."""
        early: AgentRequest | None = None
        while True:
            await anyio.sleep(self._poll.request_seconds * (4 if self._turn is None else 1))
            request = await self._journal.take_request(self._agent) or early
            early = None
            if request is None:
                continue
            if request.kind == "stop":
                await self._stop_as_asked(writer, request)
                early = request if request.head > (writer.watermark or "") else None
            elif request.kind == "resume" and not writer.progress.turn:
                await self.resume(writer)

    async def _stop_as_asked(self, writer: JournalWriter, request: AgentRequest) -> None:
        await self._drain(writer)  # a person sees a message before it is stored here
        self.wake()
        opening = next((event for event in writer.events if event.id == writer.progress.turn), None)
        if opening and _is_meant(request, opening) and not self.stop_turn():
            self._stopped = opening.id

    async def _listen(self, writer: JournalWriter) -> None:
        """Store new messages while the agent sleeps or waits for an approval."""
        while True:
            try:
                await self._inbox.hint(self._poll.poll_seconds)
            except UiMcpError as error:
                _log.info("agent %s: cannot follow the inbox: %s", self._agent, error.message)
                await anyio.sleep(self._poll.retry_seconds)
            await self._drain(writer)
            if writer.progress.turn:
                self._news.set()

    async def _one_turn(self, writer: JournalWriter, loop: Loop, tasks: TaskGroup) -> None:
        self.state = "running"
        self._ended = anyio.Event()
        try:
            with CancelScope() as self._turn:
                if writer.progress.turn == self._stopped:
                    self._turn.cancel()
                await loop.turn(lambda: self._drain(writer), tasks)
            if self._turn.cancelled_caught:
                await loop.end_aborted(tasks)
        finally:
            self._turn = None
            self._ended.set()

    async def _drain(self, writer: JournalWriter) -> None:
        """Store new messages and the watermark, up to the limits for one sampling."""
        async with self._reading:
            while (room := self._poll.max_batch - len(writer.progress.unseen)) > 0:
                chars = self._poll.max_batch_chars - writer.progress.unseen_size
                if chars <= 0:
                    return
                try:
                    page = await self._inbox.read(writer.watermark, room)
                except LeaseLostError:
                    raise
                except UiMcpError as error:
                    _log.info("agent %s: cannot read the inbox: %s", self._agent, error.message)
                    return
                taken = fitting(page.messages, chars, at_least=0 if writer.progress.unseen else 1)
                if page.messages and not taken:
                    return
                last = taken[-1]["id"] if len(taken) < len(page.messages) else page.last_id
                # A page without messages of people needs no write; it is read again next time.
                if last is not None and (taken or page.has_more):
                    await writer.inject([_user_text(message) for message in taken], last)
                if not page.has_more:
                    return


def message_of(failed: BaseExceptionGroup[JournalError]) -> str:
    """Return the message of the first error in a group."""
    first: BaseException = failed
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return str(first)


def fitting(messages: Sequence[JsonObject], chars: int, *, at_least: int) -> Sequence[JsonObject]:
    """Return the first messages that fit into `chars` characters, but not fewer than `at_least`."""
    total = 0
    for at, message in enumerate(messages):
        total += len(message["content"])
        if at >= at_least and total > chars:
            return messages[:at]
    return messages


def _is_meant(request: AgentRequest, opening: StoredEvent) -> bool:
    """Return whether a request is about the turn that an event opened."""
    return opening.id <= request.newest or opening.data.get("message_id", "~") <= request.head


def _user_text(message: JsonObject) -> JsonObject:
    taken = {"message_id": message["id"], "mime": message["mime"], "text": message["content"]}
    return {**taken, "client_id": message["client_id"]} if message.get("client_id") else taken
