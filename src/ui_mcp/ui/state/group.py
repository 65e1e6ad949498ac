"""The group of servers that share a database: which sessions this one has, and taking over those of others."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import anyio

from ui_mcp.discovery import lazy
from ui_mcp.errors import StateStoreError
from ui_mcp.jsontypes import Json
from ui_mcp.log import logger

# They import the database, which a start does not need.
if TYPE_CHECKING:
    from ui_mcp.storage.leases import Lease, holder_name
    from ui_mcp.ui.state.group_store import Facts, Right
    from ui_mcp.ui.state.store import StateStore
else:
    holder_name = lazy("ui_mcp.storage.leases:holder_name")
    Facts = lazy("ui_mcp.ui.state.group_store:Facts")
    Right = lazy("ui_mcp.ui.state.group_store:Right")

RENEWALS = 3
"""Attempts to renew a lease before it ends."""
_log = logger("group")


def journal_name(secret: str) -> str:
    """Return the name of a session in the database, from which its secret id cannot be found."""
    return sha256(secret.encode()).hexdigest()[:32]


class UnsavedFacts:
    """Facts of one session on their way into the database."""

    def __init__(self) -> None:
        self._lines: list[Json] = []
        self._first = 1
        self._version = 0

    def begin(self, lines: Sequence[Json]) -> None:
        """Replace everything."""
        self._lines, self._first = list(lines), 1
        self._version += 1

    def append(self, line: Json) -> None:
        self._lines.append(line)

    @property
    def count(self) -> int:
        """Number of lines in the database, once these are in it."""
        return self._first - 1 + len(self._lines)

    def pending(self) -> "tuple[int, Facts] | None":
        """Return what is to be written, and a number for `written`."""
        return (self._version, Facts(self._first, tuple(self._lines))) if self._lines else None

    def written(self, version: int, facts: "Facts") -> None:
        """Note that these are in the database; more may have come meanwhile."""
        if version == self._version:
            self._first += len(facts.lines)
            del self._lines[: len(facts.lines)]


class SessionGroup:
    """The leases of this server."""

    def __init__(self, store: "Callable[[], Awaitable[StateStore]]", name: str, seconds: float) -> None:
        """`name` is the same in all servers of the group; after `seconds` of silence others take over."""
        self._store = store
        self.name = name
        self._seconds = seconds
        self._holder = holder_name()
        self._held: dict[str, Lease] = {}
        self.on_lost: Callable[[str], None] = lambda _session: None
        """Called with the name of a session in the database that another server has taken over."""

    async def begin(self, secret: str) -> None:
        """Take the lease of a new session.

        Raises:
            StateStoreError: the database failed.
        """
        session = journal_name(secret)
        lease = await (await self._store()).group.begin(session, self._holder, self._seconds)
        if lease is None:
            raise StateStoreError("The session has been taken over by another server")
        self._held[session] = lease

    async def take(self, secret: str, visitor: str = "") -> list[Json] | None:
        """Take over a session and return its facts; None if there is none, or not for this visitor.

        Raises:
            SessionElsewhereError: another server has it.
            StateStoreError: the database failed.
        """
        session = journal_name(secret)
        found = await (await self._store()).group.take(session, self._holder, self._seconds, visitor)
        if found is None:
            return None
        self._held[session], facts = found
        return facts

    async def latest(self, visitor: str) -> str | None:
        """Return the secret id of the session that a visitor opened and that was served last, by any server."""
        return await (await self._store()).group.latest(visitor)

    async def release(self, secret: str) -> None:
        """Let another server take a session; failing to say so costs it only the time of the lease."""
        session = journal_name(secret)
        lease = self._held.pop(session, None)
        if lease is not None:
            try:
                await (await self._store()).group.release(session, lease)
            except StateStoreError as error:
                _log.warning("%s", error.message)

    def right(self, session: str, facts: "Facts | None") -> "Right | None":
        """Return by which this server writes to a session; None if it does not have it any more."""
        lease = self._held.get(session)
        return None if lease is None else Right(lease, facts)

    def lost(self, sessions: Sequence[str]) -> None:
        """Note that other servers have taken over sessions."""
        for session in sessions:
            if self._held.pop(session, None) is not None:
                _log.warning("another server has taken over a session")
                self.on_lost(session)

    def ended(self, session: str) -> "Lease | None":
        """Return the lease of a session that has ended, which is not renewed any more."""
        return self._held.pop(session, None)

    async def keep(self) -> None:
        """Renew the leases for ever."""
        while True:
            await anyio.sleep(self._seconds / RENEWALS)
            held: Mapping[str, Lease] = dict(self._held)
            if held:
                try:
                    self.lost(await (await self._store()).group.renew(held, self._seconds))
                except StateStoreError as error:
                    _log.warning("the leases of sessions were not renewed: %s", error.message)

    async def sweep(self, seconds: float) -> None:
        """Delete sessions that no server has had for so long."""
        try:
            count = await (await self._store()).group.sweep(seconds)
        except StateStoreError as error:
            _log.warning("%s", error.message)
            return
        if count:
            _log.info("%s sessions ended that no server had for %.0f s", count, seconds)
