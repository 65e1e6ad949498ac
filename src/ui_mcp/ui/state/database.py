"""The store of all sessions of a server, and commits that wait for the disk together."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from ui_mcp.discovery import lazy
from ui_mcp.lazy_dataclass import dataclass

# They import the database, which a start does not need.
if TYPE_CHECKING:
    from ui_mcp.ui.state.segments import Entry
    from ui_mcp.ui.state.store import StateStore
else:
    StateStore = lazy("ui_mcp.ui.state.store:StateStore")


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


class _Group:
    """Entries of several sessions that are committed together."""

    def __init__(self) -> None:
        self.journals: list[tuple[str, Sequence[Entry]]] = []
        self.committed = anyio.Event()
        self.error: Exception | None = None


class StateDatabase:
    """Opens the store with the first change."""

    def __init__(self, settings: JournalSettings) -> None:
        self._settings = settings
        self._store: StateStore | None = None
        self._opening = anyio.Lock()
        self._group: _Group | None = None
        self._last_commit = 0.0

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

    async def append(self, session: str, entries: "Sequence[Entry]") -> None:
        """Save entries of a session; returns when they are as safe as the settings want.

        Raises:
            StateStoreError: they were not saved.
        """
        store = await self.store()
        if not self._settings.durable:
            await store.append([(session, entries)], durable=False)
            return
        group = self._group
        if group is not None:
            group.journals.append((session, entries))
            await group.committed.wait()
        else:
            group = self._group = _Group()
            group.journals.append((session, entries))
            with anyio.CancelScope(shield=True):  # others wait for this commit
                await self._commit(store, group)
        if group.error is not None:
            raise group.error

    async def _commit(self, store: "StateStore", group: _Group) -> None:
        await anyio.sleep(max(0.0, self._last_commit + self._settings.interval - time.monotonic()))
        self._group, self._last_commit = None, time.monotonic()
        try:
            await store.append(group.journals, durable=True)
        except Exception as error:  # noqa: BLE001 - every session of the group gets it
            group.error = error
        group.committed.set()

    async def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await to_thread.run_sync(store.close)
