"""Stores the journal of sessions' state in SQL, on SQLite or PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anyio import to_thread

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import StateStoreError
from ui_mcp.storage.database import Database, open_database
from ui_mcp.storage.schema import Failure, Schema, Transaction

_TABLES = """
CREATE TABLE IF NOT EXISTS state_journal (
  session TEXT, seq INTEGER, at DOUBLE PRECISION, whole INTEGER, body TEXT, seal TEXT, PRIMARY KEY (session, seq));
"""


def _failed(failure: Failure, message: str, **details: object) -> StateStoreError:
    return StateStoreError(message, failure=failure, **details)


_SCHEMA = Schema("state", _failed, (_TABLES,), lock=7_203_014)


@dataclass(frozen=True, slots=True)
class Entry:
    """One step of a journal: what changed, or the whole state."""

    seq: int
    at: float
    whole: bool
    body: str
    """Records as a JSON list."""


class StateStore:
    """The journals of one database, by session."""

    def __init__(self, place: str) -> None:
        """Open the database; blocks.

        Raises:
            StateStoreError: it cannot be opened.
        """
        self._database: Database = open_database(place, _SCHEMA, _SCHEMA)

    async def append(self, session: str, entries: Sequence[Entry], *, durable: bool) -> None:
        """Add entries; what is older than the last whole state goes.

        Raises:
            StateStoreError: nothing was added.
        """
        whole = max((entry.seq for entry in entries if entry.whole), default=None)

        def work(transaction: Transaction) -> None:
            rows = [
                (session, one.seq, one.at, int(one.whole), one.body, seal("state", session, str(one.seq), one.body))
                for one in entries
            ]
            transaction.executemany(
                "INSERT INTO state_journal (session, seq, at, whole, body, seal) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (session, seq) DO NOTHING",  # an attempt whose answer was lost may have succeeded
                rows,
            )
            if whole is not None:
                transaction.execute("DELETE FROM state_journal WHERE session = ? AND seq < ?", (session, whole))

        await self._database.transaction(work, durable=durable)

    async def entries(self, session: str) -> list[Entry]:
        """Return a journal from its last whole state on; empty if there is none.

        Raises:
            StateStoreError: it cannot be read.
        """
        rows = await self._database.rows(
            "SELECT seq, at, whole, body, seal FROM state_journal WHERE session = ? ORDER BY seq", (session,)
        )
        return await to_thread.run_sync(_usable, session, rows)

    async def forget(self, session: str) -> None:
        """Delete the journal of a session that has ended in order.

        Raises:
            StateStoreError: it could not be deleted.
        """
        await self._database.change("DELETE FROM state_journal WHERE session = ?", (session,))

    def close(self) -> None:
        self._database.close()


def _usable(session: str, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
    """Return the entries from the last whole state on, up to one that this account has not written.

    A journal may have come with a repository, and its functions would run.
    """
    found: list[Entry] = []
    for seq, at, whole, body, given in rows:
        if not is_sealed(given, "state", session, str(seq), body):
            break
        if whole:
            found.clear()
        if whole or found:
            found.append(Entry(seq, at, bool(whole), body))
    return found
