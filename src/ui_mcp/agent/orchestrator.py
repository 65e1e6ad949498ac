"""Turns what a person writes into turns of the agent: each message once, in order, whatever crashes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import anyio
from anyio import CancelScope

from ui_mcp.agent.journal import Happened, Journal, LeaseLostError
from ui_mcp.agent.loop import Loop
from ui_mcp.agent.scribe import Scribe
from ui_mcp.agent.transcript import ABORTED, open_calls, waiting_for_answer
from ui_mcp.errors import UiMcpError
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger

RunState = Literal["idle", "running", "sleeping"]
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
class Pace:
    """How often and how much at once."""

    lease_seconds: float = 15.0
    renew_seconds: float = 5.0
    look_seconds: float = 30.0
    max_batch: int = 50


class Orchestrator:
    """The one active runner of an agent."""

    def __init__(
        self,
        agent: str,
        journal: Journal,
        inbox: Inbox,
        make_loop: Callable[[Scribe], Loop],
        *,
        pace: Pace = Pace(),
        ready: Callable[[Scribe], None] = lambda _: None,
    ) -> None:
        self._agent = agent
        self._journal = journal
        self._inbox = inbox
        self._make_loop = make_loop
        self._pace = pace
        self._ready = ready
        self._holder = secret_id()
        self._turn: CancelScope | None = None
        self._nap = CancelScope()
        self.scribe: Scribe | None = None
        self.state: RunState = "idle"

    async def run(self) -> None:
        """Take the lease, then serve the inbox until cancelled or until another orchestrator takes over."""
        while True:
            lease = await self._journal.take_lease(self._agent, self._holder, self._pace.lease_seconds)
            if lease is not None:
                break
            await anyio.sleep(self._pace.renew_seconds)
        scribe = Scribe(self._journal, self._agent, lease)
        await scribe.open()
        self.scribe = scribe
        self._ready(scribe)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_lease, tasks.cancel_scope)
                await self._recover(scribe)
                await self._serve(scribe)
        finally:
            with CancelScope(shield=True):
                await self._journal.drop_lease(self._agent, lease)

    def stop_turn(self) -> bool:
        """Stop the running turn, if there is one."""
        if self._turn is None:
            return False
        self._turn.cancel()
        return True

    def wake(self) -> None:
        """Look at the journal now instead of when the inbox has news."""
        self._nap.cancel()

    async def _keep_lease(self, serving: CancelScope) -> None:
        while True:
            await anyio.sleep(self._pace.renew_seconds)
            if await self._journal.take_lease(self._agent, self._holder, self._pace.lease_seconds) is None:
                _log.warning("agent %s: another orchestrator has taken over", self._agent)
                serving.cancel()
                return

    async def _recover(self, scribe: Scribe) -> None:
        """Close what a crash left open: calls that may have run are never repeated."""
        left = open_calls(scribe.events)
        if left:
            content = {"kind": "json", "result": ABORTED, "is_error": True}
            outputs = [
                Happened(
                    "function_call_output",
                    {"call_id": call.call_id, "text": ABORTED, "status": "aborted", "content": content},
                )
                for call in left
            ]
            notice = {"level": "warning", "text": "The agent was interrupted and goes on from here."}
            await scribe.write(*outputs, Happened("notice", notice))

    async def _serve(self, scribe: Scribe) -> None:
        loop = self._make_loop(scribe)
        while True:
            await self._drain(scribe)
            if waiting_for_answer(scribe.events):
                await self._one_turn(scribe, loop)
                continue
            self.state = "sleeping"
            with CancelScope() as self._nap:
                await self._inbox.hint(self._pace.look_seconds)

    async def _one_turn(self, scribe: Scribe, loop: Loop) -> None:
        self.state = "running"
        with CancelScope() as self._turn:
            await loop.turn(lambda: self._drain(scribe))
        if self._turn.cancelled_caught:
            await loop.end_aborted()
        self._turn = None

    async def _drain(self, scribe: Scribe) -> None:
        """Take everything new into the journal, a batch at a time, each with its watermark."""
        while True:
            try:
                page = await self._inbox.read(await scribe.watermark(), self._pace.max_batch)
            except LeaseLostError:
                raise
            except UiMcpError as error:
                _log.warning("agent %s: cannot read the inbox: %s", self._agent, error.message)
                return
            if page.last_id is not None:
                await scribe.inject([_user_text(message) for message in page.messages], page.last_id)
            if not page.has_more:
                return


def _user_text(message: JsonObject) -> JsonObject:
    taken = {"message_id": message["id"], "mime": message["mime"], "text": message["content"]}
    return {**taken, "client_id": message["client_id"]} if message.get("client_id") else taken
