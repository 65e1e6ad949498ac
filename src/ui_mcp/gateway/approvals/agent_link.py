"""Joins questions about calls to the agents that made them: written into their journals, fetched after a restart."""

from collections.abc import Awaitable, Callable
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
_MEND_SECONDS = 1.0
_log = logger("agent.approvals")


class Outcome(Protocol):
    """Fetches what became of a call that had to wait."""

    def __call__(self, approval_id: str, seconds: float | None, call: Call) -> Awaitable[ToolResult]: ...


class ApprovalWatch:
    """Follows the desk; the name a call was made under tells its conversation and its id."""

    def __init__(
        self,
        desk: ApprovalService,
        announcements: Announcements,
        outcome: Outcome,
        find: Callable[[str], JournalWriter | None],
        principal: str,
    ) -> None:
        self._desk = desk
        self._announcements = announcements
        self._outcome = outcome
        self._find = find
        self._principal = principal
        self._changed: set[str] = set()
        self._news = anyio.Event()

    async def find(self, agent: str, call_id: str) -> Fetch | None:
        """Return how to learn what became of a call that a person was asked about."""
        row = await self._desk.store.find_by_agent(f"{agent}/{call_id}")
        if row is None:
            return None
        await self._write(row.id)
        call = Call(principal=self._principal, client_name=row.agent)
        return lambda: self._outcome(row.id, None, call)

    async def cancel(self, agent: str, call_id: str) -> None:
        """Take a question back that nobody answered."""
        row = await self._desk.store.find_by_agent(f"{agent}/{call_id}")
        if row is not None:
            await self._desk.cancel(row.id, "The turn was stopped")
            await self._write(row.id)

    async def catch_up(self, scribe: JournalWriter) -> None:
        """Write answers that were given while nobody followed."""
        for item in scribe.timeline.state.items:
            if item["kind"] == "approval" and item["status"] == "pending":
                await self._written(item["approval_id"])

    async def run(self) -> None:
        """Follow until cancelled."""

        def heard(announcement: Announcement) -> None:
            if isinstance(announcement, ResourceUpdated) and announcement.uri.startswith(PREFIX):
                self._later(announcement.uri.removeprefix(PREFIX))

        stop = self._announcements.listen(heard)
        try:
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                while self._changed and await self._written(self._changed.pop()):
                    pass
        finally:
            stop()

    def _later(self, approval_id: str) -> None:
        self._changed.add(approval_id)
        self._news.set()

    async def _written(self, approval_id: str) -> bool:
        """Write about a question, or try again when the stores work; say whether it is done."""
        try:
            await self._write(approval_id)
        except UiMcpError as error:
            _log.warning("%s is written later: %s", approval_id, error.message)
            await anyio.sleep(_MEND_SECONDS)
            self._later(approval_id)
            return False
        return True

    async def _write(self, approval_id: str) -> None:
        try:
            row = await self._desk.get(approval_id)
        except UnknownApprovalError:
            return  # the announcement was about the list, not about one question
        name, separator, call_id = row.agent.rpartition("/")
        scribe = self._find(name) if separator else None
        if scribe is None or not (events := events_for(scribe, row, call_id)):
            return
        try:
            await scribe.write(*events)
        except LeaseLostError:
            _log.info("another process runs %s now and writes about %s", name, approval_id)


def events_for(scribe: JournalWriter, row: Approval, call_id: str) -> list[NewEvent]:
    """Return what the journal does not know yet about a question."""
    known = scribe.timeline.item(f"p:{row.id}")
    events: list[NewEvent] = []
    if known is None:
        asked = {
            "approval_id": row.id,
            "call_id": call_id,
            "tool": row.tool,
            "args": row.arguments,
            "digest": row.digest,
            "expires_at": row.expires_at,
            "request": row.preview,
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
