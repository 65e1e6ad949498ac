"""Records approvals in the journal of the agent whose call needs them, and finds their outcome after a restart."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

import anyio

from ui_mcp.agent.calls import Fetch
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.errors import LeaseLostError, UiMcpError, UnknownApprovalError
from ui_mcp.gateway.approvals.model import Approval
from ui_mcp.gateway.approvals.service import ApprovalService
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import Announcement, Announcements, ResourceUpdated
from ui_mcp.toolkit.tool import Call, ToolResult

PREFIX = "approvals://"
_RETRY_SECONDS = 1.0
_log = logger("agent.approvals")


class Outcome(Protocol):
    """Waits for the outcome of an approval; `seconds` is the limit, None waits without one."""

    def __call__(self, approval_id: str, seconds: float | None, call: Call) -> Awaitable[ToolResult]: ...


class ApprovalWatch:
    """Follows the approvals of one store and writes them into the journals of the agents concerned."""

    def __init__(
        self,
        approvals: ApprovalService,
        announcements: Announcements,
        outcome: Outcome,
        find_journal: Callable[[str], JournalWriter | None],
        principal: str,
    ) -> None:
        self._approvals = approvals
        self._announcements = announcements
        self._outcome = outcome
        self._find_journal = find_journal
        self._principal = principal
        self._changed: set[str] = set()  # ids of approvals whose journal entry is due
        self._wakeup = anyio.Event()

    async def find(self, agent: str, call_id: str) -> Fetch | None:
        """Return a function that waits for the outcome of a call, None if the call needed no approval."""
        row = await self._approval_of(agent, call_id)
        if row is None:
            return None
        await self._write(row.id)
        call = replace(row.call(), principal=self._principal)
        return lambda: self._outcome(row.id, None, call)

    async def cancel(self, agent: str, call_id: str) -> None:
        """Cancel the approval of a call if it is still pending."""
        row = await self._approval_of(agent, call_id)
        if row is not None:
            await self._approvals.cancel(row.id, "The turn was stopped")
            await self._write(row.id)

    async def _approval_of(self, agent: str, call_id: str) -> Approval | None:
        row = await self._approvals.store.find_by_agent(Call(agent=agent, call_id=call_id).caller_name)
        # A client may have chosen the same name.
        return row if row is not None and row.call().agent else None

    async def catch_up(self, journal: JournalWriter) -> None:
        """Record the answers that were given while no process followed this journal."""
        for item in journal.timeline.state.items:
            if item["kind"] == "approval" and item["status"] == "pending":
                await self._write_or_retry(item["approval_id"])

    async def run(self) -> None:
        """Follow announcements until cancelled."""

        def on_announcement(announcement: Announcement) -> None:
            if isinstance(announcement, ResourceUpdated) and announcement.uri.startswith(PREFIX):
                self._schedule(announcement.uri.removeprefix(PREFIX))

        stop = self._announcements.listen(on_announcement)
        try:
            while True:
                await self._wakeup.wait()
                self._wakeup = anyio.Event()
                while self._changed and await self._write_or_retry(self._changed.pop()):
                    pass
        finally:
            stop()

    def _schedule(self, approval_id: str) -> None:
        self._changed.add(approval_id)
        self._wakeup.set()

    async def _write_or_retry(self, approval_id: str) -> bool:
        """Record an approval; if a store fails, wait, schedule it again and return False."""
        try:
            await self._write(approval_id)
        except UiMcpError as error:
            _log.warning("cannot record approval %s yet: %s", approval_id, error.message)
            await anyio.sleep(_RETRY_SECONDS)
            self._schedule(approval_id)
            return False
        return True

    async def _write(self, approval_id: str) -> None:
        try:
            row = await self._approvals.get(approval_id)
        except UnknownApprovalError:
            return  # the announcement was about approvals://pending, not about one approval
        call = row.call()
        journal = self._find_journal(call.agent) if call.agent else None
        if journal is None or not (events := events_for(journal, row, call.call_id)):
            return
        try:
            await journal.write(*events)
        except LeaseLostError:
            _log.info("another process has taken over %s and records approval %s", call.agent, approval_id)


def events_for(journal: JournalWriter, row: Approval, call_id: str) -> list[NewEvent]:
    """Return the events about an approval that the journal does not hold yet."""
    known = journal.timeline.item(f"p:{row.id}")
    events: list[NewEvent] = []
    if known is None:
        asked = {
            "approval_id": row.id,
            "call_id": call_id,
            "tool": row.tool,
            "says": row.says,
            "args": row.arguments,
            "digest": row.digest,
            "expires_at": row.expires_at,
            "request": row.preview,
            "risk": row.risk,
        }
        events.append(NewEvent("approval_requested", asked))
    if row.status in {"approved", "denied"} and (known is None or known["status"] == "pending"):
        decided = {
            "approval_id": row.id,
            "status": row.status,
            "decided_by": row.decided_by,
            "decided_at": row.decided_at,
            "reason": row.answer_reason,
            "args": row.arguments if row.decision == "approve_with_edit" else None,
        }
        events.append(NewEvent("approval_decided", decided))
    elif row.status in {"expired", "cancelled"} and (known is None or known["status"] == "pending"):
        events.append(NewEvent("approval_expired", {"approval_id": row.id}))
    return events
