"""Turns what a person writes into turns of the agent: each message once, in order, whatever crashes."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol

import anyio
from anyio import CancelScope
from anyio.abc import TaskGroup

from ui_mcp.agent.journal import Journal, Lease, NewEvent, holder_name
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop
from ui_mcp.errors import JournalError, LeaseLostError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger

RunState = Literal["idle", "starting", "running", "awaiting_approval", "sleeping"]
INTERRUPTED = "The agent was interrupted and goes on from here."
_log = logger("agent")


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Messages of people after a cursor."""

    messages: Sequence[JsonObject]
    """Each with id, mime, content and perhaps client_id."""
    last_id: str | None
    has_more: bool


class Inbox(Protocol):
    """The person's side of a conversation, reached by a client of its own and never through the agent's tools."""

    async def read(self, after: str | None, limit: int) -> InboxPage:
        """Return messages of people after a cursor."""
        ...

    async def hint(self, seconds: float) -> None:
        """Return when something may be new, at the latest after so many seconds."""
        ...


@dataclass(frozen=True, slots=True)
class PollSettings:
    """How often and how much at once."""

    lease_seconds: float = 15.0
    renew_seconds: float = 5.0
    look_seconds: float = 30.0
    mend_seconds: float = 1.0
    """Between looks whether a journal that failed works again."""
    max_batch: int = 50
    """Messages that one sampling may be shown as new."""
    max_batch_chars: int = 65_536


class Orchestrator:
    """The one active runner of an agent."""

    def __init__(
        self,
        agent: str,
        journal: Journal,
        inbox: Inbox,
        make_loop: Callable[[JournalWriter], Loop],
        *,
        pace: PollSettings = PollSettings(),
        ready: Callable[[JournalWriter], object] = lambda _: None,
        trouble: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._agent = agent
        self._journal = journal
        self._inbox = inbox
        self._make_loop = make_loop
        self._pace = pace
        self._ready = ready
        self._trouble = trouble
        self._holder = holder_name()
        self._turn: CancelScope | None = None
        self._loop: Loop | None = None
        self._reading = anyio.Lock()
        self._news = anyio.Event()
        self.journal: JournalWriter | None = None
        self._state: RunState = "idle"

    async def run(self) -> None:
        """Take the lease, then serve the inbox until cancelled or until another orchestrator takes over.

        A journal that fails on the way ends the turn, and is waited for.

        Raises:
            JournalError: the journal cannot be used from the beginning.
        """
        while True:
            lease = await self._lease()
            if lease is not None:
                break
            await anyio.sleep(self._pace.renew_seconds)
        self._state = "starting"
        scribe = JournalWriter(self._journal, self._agent, lease)
        await scribe.open()
        self.journal = scribe
        self._ready(scribe)
        try:
            while await self._while_written(scribe) and await self._renewed(scribe):
                pass
        finally:
            self._state = "idle"
            with CancelScope(shield=True), suppress(JournalError):  # it runs out by itself
                await self._journal.drop_lease(self._agent, scribe.lease)

    async def _while_written(self, scribe: JournalWriter) -> bool:
        """Serve until the lease is lost, or return True when the journal has failed."""
        failures: list[str] = []
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_lease, tasks.cancel_scope)
                await self._serve(scribe, tasks)
        except* LeaseLostError:
            _log.warning("agent %s: it was forgotten, or another orchestrator has taken over", self._agent)
        except* JournalError as failed:
            failures = [message_of(failed)]
        for message in failures:
            _log.warning("agent %s waits for its journal: %s", self._agent, message)
            self._trouble(message)
        return bool(failures)

    async def _renewed(self, scribe: JournalWriter) -> bool:
        """Wait until the journal works again; say whether the agent is still ours."""
        self._state = "starting"
        while True:
            await anyio.sleep(self._pace.mend_seconds)
            with suppress(JournalError):
                lease = await self._lease()
                if lease is not None:
                    await scribe.renew(lease)
                return lease is not None

    async def _lease(self) -> Lease | None:
        return await self._journal.take_lease(self._agent, self._holder, self._pace.lease_seconds)

    @property
    def state(self) -> RunState:
        """What the agent is doing."""
        asking = self._state == "running" and self._loop is not None and self._loop.asking
        return "awaiting_approval" if asking else self._state

    def stop_turn(self) -> bool:
        """Stop the running turn, if there is one."""
        if self._turn is None:
            return False
        self._turn.cancel()
        return True

    def wake(self) -> None:
        """Look at the journal now instead of when the inbox has news."""
        self._news.set()

    async def _keep_lease(self, serving: CancelScope) -> None:
        while True:
            await anyio.sleep(self._pace.renew_seconds)
            if await self._lease() is None:
                _log.warning("agent %s: another orchestrator has taken over", self._agent)
                serving.cancel()
                return

    async def _serve(self, scribe: JournalWriter, tasks: TaskGroup) -> None:
        loop = self._loop = self._make_loop(scribe)
        if scribe.transcript.open_calls() and scribe.events[-1].data.get("text") != INTERRUPTED:
            await scribe.write(NewEvent("notice", {"level": "warning", "text": INTERRUPTED}))
        await loop.resume(tasks)
        await self._drain(scribe)
        tasks.start_soon(self._listen, scribe)
        while True:
            self._news = anyio.Event()
            if scribe.progress.turn:
                await self._one_turn(scribe, loop, tasks)
                await self._drain(scribe)
                continue
            self._state = "sleeping"
            await self._news.wait()

    async def _listen(self, scribe: JournalWriter) -> None:
        """Take messages while the agent sleeps, and while it waits for something else."""
        while True:
            try:
                await self._inbox.hint(self._pace.look_seconds)
            except UiMcpError as error:
                _log.info("agent %s: cannot follow the inbox: %s", self._agent, error.message)
                await anyio.sleep(self._pace.mend_seconds)
            await self._drain(scribe)
            if scribe.progress.turn:
                self._news.set()

    async def _one_turn(self, scribe: JournalWriter, loop: Loop, tasks: TaskGroup) -> None:
        self._state = "running"
        try:
            with CancelScope() as self._turn:
                await loop.turn(lambda: self._drain(scribe), tasks)
            if self._turn.cancelled_caught:
                await loop.end_aborted()
        finally:
            self._turn = None

    async def _drain(self, scribe: JournalWriter) -> None:
        """Take what is new into the journal, with its watermark, but no more than one sampling should be shown."""
        async with self._reading:
            while (room := self._pace.max_batch - len(scribe.progress.fresh)) > 0:
                chars = self._pace.max_batch_chars - scribe.progress.fresh_size
                if chars <= 0:
                    return
                try:
                    page = await self._inbox.read(scribe.watermark, room)
                except LeaseLostError:
                    raise
                except UiMcpError as error:
                    _log.info("agent %s: cannot read the inbox: %s", self._agent, error.message)
                    return
                taken = fitting(page.messages, chars, at_least=0 if scribe.progress.fresh else 1)
                if page.messages and not taken:
                    return
                last = taken[-1]["id"] if len(taken) < len(page.messages) else page.last_id
                # Our own posts alone are not worth a write; they are passed over again.
                if last is not None and (taken or page.has_more):
                    await scribe.inject([_user_text(message) for message in taken], last)
                if not page.has_more:
                    return


def message_of(failed: BaseExceptionGroup[JournalError]) -> str:
    """Return what the first of the failures says."""
    first: BaseException = failed
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return str(first)


def fitting(messages: Sequence[JsonObject], chars: int, *, at_least: int) -> Sequence[JsonObject]:
    """Return as many of the first messages as fit."""
    total = 0
    for at, message in enumerate(messages):
        total += len(message["content"])
        if at >= at_least and total > chars:
            return messages[:at]
    return messages


def _user_text(message: JsonObject) -> JsonObject:
    taken = {"message_id": message["id"], "mime": message["mime"], "text": message["content"]}
    return {**taken, "client_id": message["client_id"]} if message.get("client_id") else taken
