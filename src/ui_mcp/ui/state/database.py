"""The store of all sessions of a server, and commits that wait for the disk together."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from ui_mcp.account_seal import seal_with
from ui_mcp.discovery import lazy
from ui_mcp.errors import SessionElsewhereError
from ui_mcp.lazy_dataclass import dataclass

# They import the database, which a start does not need; few servers have a group.
if TYPE_CHECKING:
    from ui_mcp.ui.state.group import SessionGroup
    from ui_mcp.ui.state.group_store import Facts, Right
    from ui_mcp.ui.state.segments import Entry
    from ui_mcp.ui.state.store import StateStore
else:
    SessionGroup = lazy("ui_mcp.ui.state.group:SessionGroup")
    StateStore = lazy("ui_mcp.ui.state.store:StateStore")

ELSEWHERE = "another server has taken over"


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """Where and how the state of apps is saved."""

    place: str
    """A path or a URL."""
    durable: bool = False
    """Wait for the disk, against power cuts."""
    interval: float = 0.05
    """Seconds between two such commits; what changes meanwhile shares one."""
    key: str = ""
    """Signs entries, shared by the machines that may take over sessions; empty: the account's own key."""
    history: int = 12_000_000
    """Bytes of history that are kept of each session."""
    lease_seconds: float = 0.0
    """After how many seconds of silence another server of the group takes over; 0: there is no group."""


class _Commit:
    """Entries of several sessions that are committed together."""

    def __init__(self) -> None:
        self.journals: list[tuple[str, Sequence[Entry]]] = []
        self.rights: dict[str, Right] = {}
        self.lost: list[str] = []
        """Sessions to which nothing was added, because another server has them."""
        self.done = anyio.Event()
        self.error: Exception | None = None


class StateDatabase:
    """Opens the store with the first change."""

    def __init__(self, settings: JournalSettings) -> None:
        self._settings = settings
        self._store: StateStore | None = None
        self._opening = anyio.Lock()
        self._next: _Commit | None = None
        self._last_commit = 0.0
        self.group: SessionGroup | None = None
        """The servers that may take over each other's sessions, if this is one of them."""
        if settings.lease_seconds:
            name = seal_with(settings.key.encode(), "group")[:8]
            self.group = SessionGroup(self.store, name, settings.lease_seconds)

    async def store(self) -> "StateStore":
        """Return the store.

        Raises:
            StateStoreError: it cannot be opened.
        """
        async with self._opening:
            if self._store is None:
                settings = self._settings
                self._store = await to_thread.run_sync(StateStore, settings.place, settings.key, settings.history)
            return self._store

    async def append(self, session: str, entries: "Sequence[Entry]", facts: "Facts | None" = None) -> None:
        """Save entries and facts of a session; returns when they are as safe as the settings want.

        Raises:
            SessionElsewhereError: they were not saved, because another server has the session.
            StateStoreError: they were not saved.
        """
        right = self._right(session, facts)
        store = await self.store()
        commit = self._next or _Commit()
        commit.journals.append((session, entries))
        if right is not None:
            commit.rights[session] = right
        if not self._settings.durable:
            commit.lost = await store.append(commit.journals, durable=False, rights=commit.rights)
        elif commit is self._next:
            await commit.done.wait()
        else:
            self._next = commit
            with anyio.CancelScope(shield=True):  # others wait for this commit
                await self._commit(store, commit)
        if commit.error is not None:
            raise commit.error
        if self.group is not None and session in commit.lost:
            self.group.lost([session])
            raise SessionElsewhereError(ELSEWHERE)

    def _right(self, session: str, facts: "Facts | None") -> "Right | None":
        if self.group is None:
            return None
        right = self.group.right(session, facts)
        if right is None:
            raise SessionElsewhereError(ELSEWHERE)
        return right

    async def forget(self, session: str) -> None:
        """Delete what is saved of a session that has ended.

        Raises:
            StateStoreError: it could not be deleted.
        """
        lease = self.group.ended(session) if self.group is not None else None
        if self.group is None or lease is not None:
            await (await self.store()).forget(session, lease)

    async def _commit(self, store: "StateStore", commit: _Commit) -> None:
        await anyio.sleep(max(0.0, self._last_commit + self._settings.interval - time.monotonic()))
        self._next, self._last_commit = None, time.monotonic()
        try:
            commit.lost = await store.append(commit.journals, durable=True, rights=commit.rights)
        except Exception as error:  # noqa: BLE001 - every session of the commit gets it
            commit.error = error
        commit.done.set()

    async def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await to_thread.run_sync(store.close)
