"""Saves the state of a session after each operation, and brings it back after a crash."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from ui_mcp.discovery import lazy
from ui_mcp.errors import NotFoundError, SessionElsewhereError, SessionGoneError, StateStoreError, UiMcpError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.log import logger
from ui_mcp.lua_runtime.interface import Reply
from ui_mcp.ui.state.acts import START, Act, named
from ui_mcp.ui.state.database import StateDatabase
from ui_mcp.ui.state.group import UnsavedFacts, journal_name
from ui_mcp.ui.state.records import State

# They import what a start does not need.
if TYPE_CHECKING:
    from ui_mcp.ui.state.segments import Entry
    from ui_mcp.ui.state.store import Step
else:
    Entry = lazy("ui_mcp.ui.state.segments:Entry")

SHARE = 0.1
"""Of the time of a busy worker that reading changes may take."""
LONGEST_PAUSE = 2.0
SMALL_CHARACTERS = 300_000
"""Of a state that is read within some milliseconds: also before an operation of another author, so that each author has
steps of their own. Changes of a larger one may share a step."""
RETRY_SECONDS = 5.0
READ_SECONDS, READ_PAUSE = 30.0, 1.0
"""How long a restoration waits for a store that is busy or away, and between two attempts."""
WHOLE_CHARACTERS = 1_000_000
"""Changes after which the whole state is written again, so that a restoration has little to add up."""
WHOLE_STEPS = 2000
"""Likewise the number of steps, if their changes are worth it."""
HELD_CHARACTERS = 32_000_000
"""Changes that wait for a store that fails; beyond it they are dropped and the whole state is written later."""

_log = logger("state")


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
        self._session = journal_name(secret)
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
        self._steps = 0
        self._held: list[Entry] = []
        self._touched = anyio.Event()
        self._writing = anyio.Lock()
        self._over = False
        self._behind = False
        """Whether the store may have steps that could not be read, behind which the next ones belong."""
        self._unread: Act | None = None
        """The first operation since the last reading."""
        self.facts: UnsavedFacts | None = None
        """What another server needs besides the state; None: no other server may take over."""
        self.reading_seconds = 0.0
        """How long the last reading took."""

    @property
    def stored(self) -> int:
        """Number of the last step in the store."""
        return self._seq - len(self._held)

    def begin(self, act: Act) -> None:
        """Note what is there before the first operation; it is a step of its own, read with the first operation."""
        self._unread = act

    def touch(self, act: Act) -> None:
        """Note that an operation may have changed the state."""
        self._unread = self._unread or act
        self._touched.set()

    def wake(self) -> None:
        """Save facts that are new, even if no operation may have changed the state."""
        self._touched.set()

    def is_other(self, author: str) -> bool:
        """Return whether there are changes of another author that no reading has included."""
        unread = self._unread
        is_other = unread is not None and unread.author != author
        return is_other and self._whole_size < SMALL_CHARACTERS and not self._over

    def take(self, reply: Reply, point: SavePoint) -> SavePoint | None:
        """Take what a reading has returned; None if there is nothing to save any more."""
        act, self._unread = self._unread or Act(START, "Start"), None
        if reply.fault is not None:
            self._stop(f"the state is too large: {reply.fault.message}")
            return None
        body, act = named(reply.result, act)
        # Without changes the point counts all the same: the operations up to here are saved.
        if body != "[]":
            self._hold(body, act)
            if not self._held:  # dropped; the whole state will include it
                return None
        return point

    async def run(self) -> None:
        """Save what changes, until the journal is closed."""
        while not self._over:
            await self._touched.wait()
            try:
                await self._save()
            except SessionGoneError:
                continue  # the session starts another worker
            except SessionElsewhereError as error:
                self.leave()
                self.problem = error.message
                return
            except UiMcpError as error:
                await self._failed(error)
                continue
            except Exception:  # noqa: BLE001 — a bug here must not end the server's task group
                _log.exception("the state of a session")
                self._stop("an internal error; the log has more")
                return
            self.problem = ""
            # A large state takes long to compare; the pause leaves the worker to the person.
            await anyio.sleep(min(self.reading_seconds * (1 / SHARE - 1), LONGEST_PAUSE))

    async def restore(self, call: Callable[[str], Awaitable[Reply]]) -> JsonObject | None:
        """Bring the saved state into a new worker; return `{at, lost}`, or None if nothing was saved.

        Raises:
            SessionGoneError: the worker ended meanwhile.
        """
        if self._over:
            return None
        self.whole = True
        try:
            async with self._writing:
                entries = await self._entries()
        except StateStoreError as error:
            _log.error("the saved state cannot be read: %s", error.message)
            self._behind = True
            return None
        if not entries:
            return None
        self._seq = max(self._seq, entries[-1].seq)
        reply = await call(await to_thread.run_sync(_text_of_sum, entries))
        if reply.fault is not None:
            _log.warning("the state could not be restored: %s", reply.fault.message)
            return None
        return {"at": entries[-1].at, "lost": list(loads(reply.result) or [])}

    def leave(self) -> None:
        """End the journal and keep what it has saved, for another server."""
        self._over = True
        self._touched.set()

    async def close(self) -> None:
        """End the journal and delete what it has saved: the session ends in order."""
        self._over = True
        self._touched.set()
        if not self._seq and self.facts is None:
            return
        with anyio.CancelScope(shield=True), suppress(StateStoreError):
            async with self._writing:
                await self._database.forget(self._session)

    async def flush(self) -> int:
        """Save what was read, and return the number of the last step.

        Raises:
            StateStoreError: it could not be saved.
        """
        async with self._writing:
            await self._write()
        return self._seq

    async def state_at(self, seq: int) -> State:
        """Return the state after a step that is saved.

        Raises:
            NotFoundError: the history of that time is no longer kept.
            StateStoreError: it cannot be read.
        """
        entries = await (await self._database.store()).moment(self._session, seq)
        if not entries:
            raise NotFoundError(f"Step {seq} is not in the history that is kept")
        return await to_thread.run_sync(_sum, entries)

    async def steps(self, before: int, limit: int) -> "list[Step]":
        """Return saved steps below a number, newest first.

        Raises:
            StateStoreError: they cannot be read.
        """
        return await (await self._database.store()).steps(self._session, before, limit)

    async def first_step(self) -> int:
        """Return the number of the oldest step that is kept; 0 if there is none.

        Raises:
            StateStoreError: it cannot be read.
        """
        return await (await self._database.store()).first(self._session)

    async def _entries(self) -> "list[Entry]":
        """Return what is in the store and what waits for it; wait a while for a store that is busy."""
        # A whole state that waits replaces what is stored; without one before them, changes add up to nothing.
        if self._held and self._held[0].whole:
            return list(self._held)
        deadline = time.monotonic() + READ_SECONDS
        while True:
            try:
                found = await (await self._database.store()).entries(self._session)
                return found + self._held if found else []
            except StateStoreError as error:
                if error.details.get("failure") != "busy" or time.monotonic() > deadline:
                    raise
            await anyio.sleep(READ_PAUSE)

    async def _save(self) -> None:
        self._touched = anyio.Event()  # before reading: what changes from here on needs another pass
        point = await self._read()
        async with self._writing:
            await self._write()
        if point is not None and not self._over:
            self._saved(point)

    async def _write(self) -> None:
        facts = self.facts.pending() if self.facts is not None else None
        if self._over or not (self._held or facts):
            return
        if self._behind:
            await self._go_behind()
        writing = list(self._held)
        await self._database.append(self._session, writing, facts[1] if facts else None)
        del self._held[: len(writing)]
        if self.facts is not None and facts is not None:
            self.facts.written(*facts)

    async def _go_behind(self) -> None:
        """Number what waits behind the steps in the store."""
        last = await (await self._database.store()).last(self._session)
        self._held = [replace(entry, seq=number) for number, entry in enumerate(self._held, last + 1)]
        self._seq, self._behind = last + len(self._held), False

    async def _failed(self, error: UiMcpError) -> None:
        if self.problem != error.message:
            _log.warning("the state of a session is not saved: %s", error.message)
        self.problem = error.message
        self._touched.set()
        await anyio.sleep(RETRY_SECONDS)

    def _hold(self, body: str, act: Act) -> None:
        self._seq += 1
        self._held.append(Entry(self._seq, time.time(), self.whole, body, act.author, act.app, act.label, act.undoes))
        if self.whole:
            self._whole_size, self._since_whole, self._steps = len(body), 0, 0
        else:
            self._since_whole += len(body)
            self._steps += 1
        many = self._steps >= WHOLE_STEPS and self._since_whole > self._whole_size // 2
        self.whole = many or self._since_whole > max(WHOLE_CHARACTERS, 2 * self._whole_size)
        if sum(len(entry.body) for entry in self._held) > HELD_CHARACTERS + self._whole_size:
            self._held.clear()
            self.whole = True
            self._touched.set()

    def _stop(self, why: str) -> None:
        self._over = True
        self.problem = why
        self._stopped(why)


def _sum(entries: "list[Entry]") -> State:
    state = State()
    for entry in entries:
        state.apply(loads(entry.body))
    return state


def _text_of_sum(entries: "list[Entry]") -> str:
    return dumps(list(_sum(entries).records()))
