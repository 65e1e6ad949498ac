"""Stores the journal of sessions' state in SQL, on SQLite or PostgreSQL.

The newest entries are rows. When the whole state is written again, the older ones are packed into one segment, in
which a session's history is kept up to a size.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anyio import to_thread

from ui_mcp.account_seal import account_key, seal_with
from ui_mcp.errors import StateStoreError
from ui_mcp.storage.database import Database, file_of, open_database
from ui_mcp.storage.leases import Lease
from ui_mcp.storage.schema import Failure, Schema, Transaction
from ui_mcp.ui.state.group_store import TABLES as GROUP_TABLES
from ui_mcp.ui.state.group_store import GroupStore, Right, forget
from ui_mcp.ui.state.segments import Entry, pack, unpack

_TABLES = """
CREATE TABLE IF NOT EXISTS state_journal (
  session TEXT, seq INTEGER, at DOUBLE PRECISION, whole INTEGER, body TEXT, seal TEXT, author TEXT, app TEXT,
  label TEXT, undoes INTEGER, PRIMARY KEY (session, seq));
CREATE TABLE IF NOT EXISTS state_segments (
  session TEXT, first INTEGER, last INTEGER, size INTEGER, body TEXT, seal TEXT, PRIMARY KEY (session, first));
"""
_COLUMNS = "seq, at, whole, body, author, app, label, undoes, seal"
_REPLACED = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[1:])
_INSERT = (
    f"INSERT INTO state_journal (session, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608 - ours
    f"ON CONFLICT (session, seq) DO UPDATE SET {_REPLACED}"
)
HISTORY_BYTES = 12_000_000
_LAST = 2**31 - 1


def _failed(failure: Failure, message: str, **details: object) -> StateStoreError:
    return StateStoreError(message, failure=failure, **details)


_ADDED = tuple(("state_journal", name, kind) for name, kind in (
    ("author", "TEXT"), ("app", "TEXT"), ("label", "TEXT"), ("undoes", "INTEGER")))  # fmt: skip
_SCHEMA = Schema("state", _failed, (_TABLES, GROUP_TABLES), lock=7_203_014, added=_ADDED)


@dataclass(frozen=True, slots=True)
class Step:
    """An entry without its contents."""

    seq: int
    at: float
    author: str
    app: str
    label: str
    undoes: int


class StateStore:
    """The journals of one database, by session."""

    def __init__(self, place: str, key: str = "", history: int = HISTORY_BYTES) -> None:
        """Open the database; blocks.

        Entries are signed with `key`, which several machines may share, or else with the account's own; of the history
        of a session `history` bytes are kept.

        Raises:
            StateStoreError: it cannot be opened, or there is no key.
        """
        try:
            self._key = key.encode() or account_key()
        except OSError as error:
            raise StateStoreError(f"The state of apps cannot be signed: {error}") from error
        self._history = history
        self._database: Database = open_database(place, _SCHEMA, _SCHEMA)
        self.group = GroupStore(self._database, self._key, postgres=file_of(place) is None)

    async def append(
        self,
        journals: Sequence[tuple[str, Sequence[Entry]]],
        *,
        durable: bool,
        rights: Mapping[str, Right] | None = None,
    ) -> list[str]:
        """Add entries to the journals of sessions; what is older than the last whole state is packed.

        `rights` are those of the sessions that other servers may take over; return the ones to which nothing was added
        because that has happened.

        Raises:
            StateStoreError: nothing was added.
        """
        given = rights or {}

        def work(transaction: Transaction) -> list[str]:
            lost = []
            for session, entries in journals:
                right = given.get(session)
                if right is not None and not self.group.leases.holds(transaction, session, right.lease):
                    lost.append(session)
                    continue
                self._append(transaction, session, entries)
                if right is not None and right.facts is not None:
                    self.group.write(transaction, session, right.facts)
            return lost

        return await self._database.transaction(work, durable=durable)

    def _append(self, transaction: Transaction, session: str, entries: Sequence[Entry]) -> None:
        rows = [
            (session, one.seq, one.at, int(one.whole), one.body, one.author, one.app, one.label, one.undoes,
             self._seal(session, one))
            for one in entries
        ]  # fmt: skip
        if not rows:
            return
        # A server that was killed may have committed rows after this one has read the journal; ours replace them, and
        # so they do those of our own attempt whose answer was lost.
        transaction.executemany(_INSERT, rows)
        whole = max((entry.seq for entry in entries if entry.whole), default=None)
        if whole is not None:
            newest = max(entry.seq for entry in entries)
            transaction.execute("DELETE FROM state_journal WHERE session = ? AND seq > ?", (session, newest))
            self._pack(transaction, session, whole)

    def _pack(self, transaction: Transaction, session: str, before: int) -> None:
        rows = transaction.execute(
            f"SELECT {_COLUMNS} FROM state_journal WHERE session = ? AND seq < ? ORDER BY seq",  # noqa: S608
            (session, before),
        ).fetchall()
        entries = self._usable(session, rows)
        if entries and self._history:
            body = pack(entries)
            first, last = entries[0].seq, entries[-1].seq
            sealed = self._seal_segment(session, first, last, body)
            transaction.execute(
                "INSERT INTO state_segments (session, first, last, size, body, seal) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (session, first) DO NOTHING",
                (session, first, last, len(body), body, sealed),
            )
        transaction.execute("DELETE FROM state_journal WHERE session = ? AND seq < ?", (session, before))
        self._trim(transaction, session)

    def _trim(self, transaction: Transaction, session: str) -> None:
        """Delete the oldest segments of a history that has grown too large."""
        size = 0
        found = transaction.execute(
            "SELECT first, size FROM state_segments WHERE session = ? ORDER BY first DESC", (session,)
        ).fetchall()
        for first, bytes_ in found:
            size += bytes_
            if size > self._history:
                transaction.execute("DELETE FROM state_segments WHERE session = ? AND first <= ?", (session, first))
                return

    async def entries(self, session: str) -> list[Entry]:
        """Return a journal from its last whole state on; empty if there is none.

        Raises:
            StateStoreError: it cannot be read.
        """
        return await to_thread.run_sync(_from_last_whole, await self._rows(session))

    async def moment(self, session: str, seq: int) -> list[Entry]:
        """Return the entries whose sum is the state after a step; empty if its history is no longer kept.

        Raises:
            StateStoreError: it cannot be read.
        """
        entries = await self._rows(session, seq)
        if not entries:
            entries = [
                one for part in await self._segments(session, "first <= ? AND last >= ?", (seq, seq)) for one in part
            ]
        return _from_last_whole([one for one in entries if one.seq <= seq])

    async def steps(self, session: str, before: int, limit: int) -> list[Step]:
        """Return up to `limit` steps with numbers below `before`, newest first.

        Raises:
            StateStoreError: they cannot be read.
        """
        rows = await self._database.rows(
            "SELECT seq, at, author, app, label, undoes FROM state_journal WHERE session = ? AND seq < ? "
            "ORDER BY seq DESC LIMIT ?",
            (session, before, limit),
        )
        found = [
            Step(seq, at, who or "", app or "", label or "", undoes or 0) for seq, at, who, app, label, undoes in rows
        ]
        while len(found) < limit:
            below = found[-1].seq if found else before
            segments = await self._segments(session, "first < ?", (below,), newest=True)
            older = [one for one in reversed(segments[0]) if one.seq < below] if segments else []
            if not older:
                break
            found += [Step(one.seq, one.at, one.author, one.app, one.label, one.undoes) for one in older]
        return found[:limit]

    async def last(self, session: str) -> int:
        """Return the number of the newest step; 0 if there is none.

        Raises:
            StateStoreError: it cannot be read.
        """
        [[new]] = await self._database.rows("SELECT max(seq) FROM state_journal WHERE session = ?", (session,))
        return int(new or 0)

    async def first(self, session: str) -> int:
        """Return the number of the oldest step that is kept; 0 if there is none.

        Raises:
            StateStoreError: it cannot be read.
        """
        [[old]] = await self._database.rows("SELECT min(first) FROM state_segments WHERE session = ?", (session,))
        [[new]] = await self._database.rows("SELECT min(seq) FROM state_journal WHERE session = ?", (session,))
        return int(old or new or 0)

    async def forget(self, session: str, lease: Lease | None = None) -> None:
        """Delete the journal of a session that has ended in order, unless `lease` is given and outdated.

        Raises:
            StateStoreError: it could not be deleted.
        """

        def work(transaction: Transaction) -> None:
            if lease is None or self.group.leases.holds(transaction, session, lease):
                forget(transaction, session)

        await self._database.transaction(work)

    def close(self) -> None:
        self._database.close()

    async def _rows(self, session: str, last: int = _LAST) -> list[Entry]:
        """Return the rows from the whole state before a step up to it."""
        rows = await self._database.rows(
            f"SELECT {_COLUMNS} FROM state_journal WHERE session = ? AND seq <= ? AND seq >= (SELECT max(seq) "  # noqa: S608
            "FROM state_journal WHERE session = ? AND seq <= ? AND whole = 1) ORDER BY seq",
            (session, last, session, last),
        )
        return await to_thread.run_sync(self._usable, session, rows)

    async def _segments(
        self, session: str, where: str, values: tuple[int, ...], *, newest: bool = False
    ) -> list[list[Entry]]:
        order = "DESC LIMIT 1" if newest else "ASC"
        rows = await self._database.rows(
            f"SELECT first, last, body, seal FROM state_segments WHERE session = ? AND {where} ORDER BY first {order}",  # noqa: S608
            (session, *values),
        )
        return await to_thread.run_sync(self._unpacked, session, rows)

    def _unpacked(self, session: str, rows: Sequence[tuple[Any, ...]]) -> list[list[Entry]]:
        return [
            unpack(body)
            for first, last, body, given in rows
            if hmac.compare_digest(str(given), self._seal_segment(session, first, last, body))
        ]

    def _usable(self, session: str, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
        """Return the entries from the first whole state on, up to one that was not written by us.

        A journal may have come with a repository, and its functions would run.
        """
        found: list[Entry] = []
        for seq, at, whole, body, author, app, label, undoes, given in rows:
            entry = Entry(seq, at, bool(whole), body, author or "", app or "", label or "", undoes or 0)
            if not hmac.compare_digest(str(given), self._seal(session, entry)):
                break
            if whole or found:
                found.append(entry)
        return found

    def _seal(self, session: str, one: Entry) -> str:
        about = (one.author, one.app, one.label, str(one.undoes)) if one.author else ()
        return seal_with(self._key, "state", session, str(one.seq), one.body, *about)

    def _seal_segment(self, session: str, first: int, last: int, body: str) -> str:
        return seal_with(self._key, "state segment", session, str(first), str(last), body)


def _from_last_whole(entries: list[Entry]) -> list[Entry]:
    at = max((index for index, one in enumerate(entries) if one.whole), default=None)
    return [] if at is None else entries[at:]
