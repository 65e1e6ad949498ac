"""Saves the state of a session after each operation, and brings it back after a crash."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from ui_mcp.discovery import lazy
from ui_mcp.errors import SessionGoneError, StateStoreError, UiMcpError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.log import logger
from ui_mcp.lua_runtime.interface import Reply
from ui_mcp.ui.state.records import State

# They import the database, which a start does not need.
if TYPE_CHECKING:
    from ui_mcp.ui.state.store import Entry, StateStore
else:
    Entry, StateStore = lazy("ui_mcp.ui.state.store:Entry"), lazy("ui_mcp.ui.state.store:StateStore")

SHARE = 0.1
"""Of the time of a busy worker that reading changes may take."""
LONGEST_PAUSE = 2.0
RETRY_SECONDS = 5.0
WHOLE_CHARACTERS = 1_000_000
"""Changes after which the whole state is written again, so that a restoration has little to add up."""
HELD_CHARACTERS = 32_000_000
"""Changes that wait for a store that fails; beyond it they are dropped and the whole state is written later."""

_log = logger("state")


class StateDatabase:
    """The store of all sessions of a server, opened with the first change."""

    def __init__(self, place: str, *, durable: bool = False) -> None:
        """Use the database at a path or URL; `durable` waits for the disk at each commit, against power cuts."""
        self._place = place
        self.durable = durable
        self._store: StateStore | None = None
        self._opening = anyio.Lock()

    async def store(self) -> "StateStore":
        """Return the store.

        Raises:
            StateStoreError: it cannot be opened.
        """
        async with self._opening:
            if self._store is None:
                self._store = await to_thread.run_sync(StateStore, self._place)
            return self._store

    async def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await to_thread.run_sync(store.close)


@dataclass(frozen=True, slots=True)
class SavePoint:
    """What a reading of the state includes."""

    operations: int
    frames: Mapping[int, int]
    """Frames of each page that were processed before, by the number of its connection."""


class StateJournal:
    """The journal of one session."""

    def __init__(
        self,
        secret: str,
        database: StateDatabase,
        read: Callable[[], Awaitable[SavePoint | None]],
        saved: Callable[[SavePoint], None],
        stopped: Callable[[str], None],
    ) -> None:
        """Keep the state of a session.

        `read` lets the worker return its changes and gives them to `take`, all while no other operation runs; `saved`
        is called when they are in the store, `stopped` with the reason why nothing more will be saved.
        """
        self._session = sha256(secret.encode()).hexdigest()[:32]
        self._database = database
        self._read = read
        self._saved = saved
        self._stopped = stopped
        self.whole = True
        """Whether the next reading has to be of the whole state."""
        self.problem = ""
        """Why the last attempt to save failed; empty when it worked."""
        self._seq = 0
        self._whole_size = 0
        self._since_whole = 0
        self._held: list[Entry] = []
        self._touched = anyio.Event()
        self._writing = anyio.Lock()
        self._over = False

    def touch(self) -> None:
        """Note that an operation may have changed the state."""
        self._touched.set()

    def take(self, reply: Reply, point: SavePoint) -> SavePoint | None:
        """Take what a reading has returned; None if there is nothing to save any more."""
        if reply.fault is not None:
            self._stop(f"the state is too large: {reply.fault.message}")
            return None
        if reply.result != "[]":
            self._hold(reply.result)
        return point

    async def run(self) -> None:
        """Save what changes, until the journal is closed."""
        while not self._over:
            await self._touched.wait()
            began = time.monotonic()
            try:
                await self._save()
            except SessionGoneError:
                continue  # the session starts another worker
            except UiMcpError as error:
                await self._failed(error)
                continue
            except Exception:  # noqa: BLE001 — a bug here must not end the server's task group
                _log.exception("the state of a session")
                self._stop("an internal error; the log has more")
                return
            self.problem = ""
            # A large state takes long to compare; the pause leaves the worker to the person.
            await anyio.sleep(min((time.monotonic() - began) * (1 / SHARE - 1), LONGEST_PAUSE))

    async def restore(self, call: Callable[[str], Awaitable[Reply]]) -> JsonObject | None:
        """Bring the saved state into a new worker; return `{at, lost}`, or None if nothing was saved.

        Raises:
            SessionGoneError: the worker ended meanwhile.
        """
        if self._over:
            return None
        async with self._writing:
            entries = await self._entries()
        self.whole = True
        if not entries:
            return None
        self._seq = max(self._seq, entries[-1].seq)
        reply = await call(await to_thread.run_sync(_sum, [entry.body for entry in entries]))
        if reply.fault is not None:
            _log.warning("the state could not be restored: %s", reply.fault.message)
            return None
        return {"at": entries[-1].at, "lost": list(loads(reply.result) or [])}

    async def close(self) -> None:
        """End the journal and delete what it has saved: the session ends in order."""
        self._over = True
        self._touched.set()
        if not self._seq:
            return
        with anyio.CancelScope(shield=True), suppress(StateStoreError):
            async with self._writing:
                await (await self._database.store()).forget(self._session)

    async def _entries(self) -> "list[Entry]":
        """Return what is in the store and what waits for it."""
        try:
            found = await (await self._database.store()).entries(self._session)
        except StateStoreError as error:
            _log.warning("%s", error.message)
            found = []
        if self._held and self._held[0].whole:
            found = []
        return found + self._held if found or (self._held and self._held[0].whole) else []

    async def _save(self) -> None:
        self._touched = anyio.Event()
        point = await self._read()
        async with self._writing:
            if self._held and not self._over:
                writing = list(self._held)
                store = await self._database.store()
                await store.append(self._session, writing, durable=self._database.durable)
                del self._held[: len(writing)]
        if point is not None:
            self._saved(point)

    async def _failed(self, error: UiMcpError) -> None:
        if self.problem != error.message:
            _log.warning("the state of a session is not saved: %s", error.message)
        self.problem = error.message
        self._touched.set()
        await anyio.sleep(RETRY_SECONDS)

    def _hold(self, body: str) -> None:
        self._seq += 1
        self._held.append(Entry(self._seq, time.time(), self.whole, body))
        if self.whole:
            self._whole_size, self._since_whole = len(body), 0
        else:
            self._since_whole += len(body)
        self.whole = self._since_whole > max(WHOLE_CHARACTERS, 2 * self._whole_size)
        if sum(len(entry.body) for entry in self._held) > HELD_CHARACTERS + self._whole_size:
            self._held.clear()
            self.whole = True

    def _stop(self, why: str) -> None:
        self._over = True
        self.problem = why
        self._stopped(why)


def _sum(bodies: list[str]) -> str:
    state = State()
    for body in bodies:
        state.apply(loads(body))
    return dumps(list(state.records()))
