"""Saves the state of one session after its operations, and tells pages, person and agent what is saved."""

import time
from asyncio import Lock
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anyio import CancelScope

from ui_mcp.errors import SessionGoneError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lua_runtime.interface import Reply, Scalar
from ui_mcp.ui.sessions.events import READ_ONLY, EventQueue
from ui_mcp.ui.sessions.pages import Pages, UnseenNotices, system_event
from ui_mcp.ui.state.acts import Act, act_of
from ui_mcp.ui.state.database import StateDatabase
from ui_mcp.ui.state.journal import SavePoint, StateJournal
from ui_mcp.wire import NOTICE_UNSAVED, Op

if TYPE_CHECKING:
    from ui_mcp.ui.sessions.supervisor import WorkerSupervisor


@dataclass(frozen=True, slots=True)
class SavedSession:
    """The parts of a session that saving needs."""

    vended: str
    secret: str
    lock: Lock
    """Held while the worker does something."""
    worker: "WorkerSupervisor"
    pages: Pages
    events: EventQueue
    unseen: UnseenNotices
    displayed: Callable[[], str | None]


class StateSaver:
    """The journal of a session and its worker's answers."""

    def __init__(self, session: SavedSession, database: StateDatabase) -> None:
        self._session = session
        self.journal = StateJournal(session.secret, database, self._read, self._on_saved, self._on_unsaved)
        self._operations = 0
        self._saved = 0

    @property
    def unsaved(self) -> int:
        """Operations whose effects are not saved yet."""
        return self._operations - self._saved

    async def before(self, op: Op, author: str) -> None:
        """Read what another author has changed, so that their changes are a step of their own; the lock is held."""
        if op not in READ_ONLY and self.journal.is_other(author or act_of(op, (), "", "").author):
            await self.read()

    def after(self, op: Op, args: tuple[Scalar, ...], author: str) -> None:
        """Note that an operation was done."""
        if op not in READ_ONLY:
            self.note(act_of(op, args, author, self._session.displayed() or ""))

    def note(self, act: Act) -> None:
        self._operations += 1
        self.journal.touch(act)

    async def read(self) -> SavePoint | None:
        """Let the worker say what has changed; the lock is held.

        Raises:
            SessionGoneError: the worker has ended.
        """
        session, journal = self._session, self.journal
        if session.worker.crash_reason is not None:
            raise SessionGoneError("the worker has ended")
        point = SavePoint(self._operations, session.pages.processed())
        began = time.monotonic()
        with CancelScope(shield=True):  # the caller may give up waiting, but the worker returns each change only once
            reply = await session.worker.worker().call(Op.CHANGES, journal.whole)
        journal.reading_seconds = time.monotonic() - began
        return journal.take(reply, point)

    async def save(self) -> None:
        """Save everything up to now.

        Raises:
            UiMcpError: it could not be saved, or the worker has ended.
        """
        await self._read()
        await self.journal.flush()

    async def restore(self, call: Callable[[str], Awaitable[Reply]]) -> JsonObject | None:
        return await self.journal.restore(call)

    async def _read(self) -> SavePoint | None:
        async with self._session.lock:
            return await self.read()

    def _on_saved(self, point: SavePoint) -> None:
        self._saved = point.operations
        self._session.pages.confirm_saved(point.frames)

    def _on_unsaved(self, why: str) -> None:
        session = self._session
        session.events.push_system(system_event("state_not_saved", {"session": session.vended, "reason": why}))
        session.unseen.notify("warning", f"Changes are no longer saved: {why}", NOTICE_UNSAVED)
