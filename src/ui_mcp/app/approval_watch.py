"""Writes questions about calls, and their answers, into the journal of the conversation that made the call."""

from collections.abc import Callable

import anyio

from ui_mcp.agent.conversation import Conversation
from ui_mcp.agent.journal import Happened
from ui_mcp.agent.scribe import Scribe
from ui_mcp.compositor.approvals.desk import Desk
from ui_mcp.compositor.approvals.row import Approval, UnknownApprovalError
from ui_mcp.toolkit.resources import Announcement, Announcements, ResourceUpdated

PREFIX = "approvals://"


class ApprovalWatch:
    """Follows the desk; the name a call was made under tells its conversation and its id."""

    def __init__(self, desk: Desk, announcements: Announcements, find: Callable[[str], Conversation | None]) -> None:
        self._desk = desk
        self._announcements = announcements
        self._find = find

    async def run(self) -> None:
        """Follow until cancelled."""
        changed: set[str] = set()
        news = anyio.Event()

        def heard(announcement: Announcement) -> None:
            if isinstance(announcement, ResourceUpdated) and announcement.uri.startswith(PREFIX):
                changed.add(announcement.uri.removeprefix(PREFIX))
                news.set()

        stop = self._announcements.listen(heard)
        try:
            while True:
                await news.wait()
                news = anyio.Event()
                while changed:
                    await self._write(changed.pop())
        finally:
            stop()

    async def _write(self, approval_id: str) -> None:
        try:
            row = await self._desk.get(approval_id)
        except UnknownApprovalError:
            return  # the announcement was about the list, not about one question
        name, separator, call_id = row.agent.rpartition("/")
        conversation = self._find(name) if separator else None
        if conversation is not None:
            events = events_for(conversation.scribe, row, call_id)
            if events:
                await conversation.scribe.write(*events)


def events_for(scribe: Scribe, row: Approval, call_id: str) -> list[Happened]:
    """Return what the journal does not know yet about a question."""
    known = {item["id"]: item for item in scribe.timeline.state.items}.get(f"p:{row.id}")
    events: list[Happened] = []
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
        events.append(Happened("approval_requested", asked))
    if row.status in {"approved", "denied"} and (known is None or known["status"] == "pending"):
        decided = {
            "approval_id": row.id,
            "status": row.status,
            "decided_by": row.decided_by,
            "decided_at": row.decided_at,
            "reason": row.answer_reason,
            "args": row.arguments if row.decision == "approve_with_edit" else None,
        }
        events.append(Happened("approval_decided", decided))
    elif row.status in {"expired", "cancelled"} and (known is None or known["status"] == "pending"):
        events.append(Happened("approval_expired", {"approval_id": row.id}))
    return events
