"""Sessions that several servers share, in SQL: which of them may write one, and facts by which another continues it."""

import hmac
from collections.abc import Mapping, Sequence

from ui_mcp.account_seal import seal_with
from ui_mcp.errors import SessionElsewhereError
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.storage.database import Database
from ui_mcp.storage.leases import Lease, LeaseTable
from ui_mcp.storage.schema import Transaction

TABLES = """
CREATE TABLE IF NOT EXISTS state_leases (
  session TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, until DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS state_facts (
  session TEXT, number INTEGER, line TEXT, visitor TEXT, seal TEXT, PRIMARY KEY (session, number));
CREATE INDEX IF NOT EXISTS state_visitors ON state_facts (visitor) WHERE visitor IS NOT NULL;
"""
OWNED = ("state_journal", "state_segments", "state_facts", "state_leases")
"""Tables with rows of a session."""

# The session that was served last; its first fact is the secret id.
_LATEST = """
SELECT about.line FROM state_facts AS seen
JOIN state_leases AS held ON held.session = seen.session
JOIN state_facts AS about ON about.session = seen.session AND about.number = 1
WHERE seen.visitor = ? ORDER BY held.until DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """Lines to add to what is known of a session."""

    first: int
    """Number of the first of them; 1: they replace all others."""
    lines: Sequence[Json]


@dataclass(frozen=True, slots=True)
class Right:
    """By which a server writes to a session that others may take over, and facts to write along."""

    lease: Lease
    facts: Facts | None = None


class GroupStore:
    """Leases and facts of one database, by session."""

    def __init__(self, database: Database, key: bytes, *, postgres: bool) -> None:
        self._database = database
        self._key = key
        self.leases = LeaseTable("state_leases", "session", postgres=postgres)

    async def begin(self, session: str, holder: str, seconds: float) -> Lease | None:
        """Take the lease of a new session, or of one that this server has left; None if another server has it."""
        return await self._database.transaction(lambda found: self.leases.take(found, session, holder, seconds))

    async def take(
        self, session: str, holder: str, seconds: float, visitor: str = ""
    ) -> tuple[Lease, list[Json]] | None:
        """Take over a session that is known here; return the lease and the facts.

        None if there is none, or if `visitor` is given and was not admitted to it.

        Raises:
            SessionElsewhereError: another server has it.
        """

        def work(found: Transaction) -> tuple[Lease, list[Json]] | None:
            # First, so that no request makes rows for sessions that do not exist.
            if not self._admits(self._facts(found, session), visitor):
                return None
            lease = self.leases.take(found, session, holder, seconds)
            if lease is None:
                raise SessionElsewhereError("Another server has this session\nIt is free when that server stops.")
            # Again: its last holder may have written before we had the lease.
            return lease, self._facts(found, session)

        return await self._database.transaction(work)

    async def renew(self, leases: Mapping[str, Lease], seconds: float) -> list[str]:
        """Prolong leases; return the sessions that other servers have taken over."""

        def work(found: Transaction) -> list[str]:
            return [name for name, lease in leases.items() if not self.leases.renew(found, name, lease, seconds)]

        return await self._database.transaction(work, durable=False)

    async def release(self, session: str, lease: Lease) -> None:
        """Let another server take a session at once."""
        await self._database.transaction(lambda found: self.leases.drop(found, session, lease))

    async def latest(self, visitor: str) -> str | None:
        """Return the secret id of the session that a visitor was admitted to and that was served last."""
        rows = await self._database.rows(_LATEST, (visitor,))
        return str(loads(rows[0][0])[1]) if rows else None

    async def sweep(self, seconds: float) -> int:
        """Delete the sessions that no server has had for so long; return how many."""

        def work(found: Transaction) -> int:
            sessions = self.leases.expired(found, seconds)
            for session in sessions:
                forget(found, session)
            return len(sessions)

        return await self._database.transaction(work)

    def write(self, found: Transaction, session: str, facts: Facts) -> None:
        """Add facts in a transaction that has checked the lease."""
        if facts.first == 1:
            found.execute("DELETE FROM state_facts WHERE session = ?", (session,))
        rows = []
        for number, line in enumerate(facts.lines, facts.first):
            text = dumps(line)
            visitor = str(line[1]) if line[0] == "visitor" else None
            rows.append((session, number, text, visitor, self._seal(session, number, text)))
        found.executemany(
            "INSERT INTO state_facts (session, number, line, visitor, seal) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (session, number) DO NOTHING",  # an attempt whose answer was lost may have succeeded
            rows,
        )

    def _facts(self, found: Transaction, session: str) -> list[Json]:
        rows = found.execute(
            "SELECT number, line, seal FROM state_facts WHERE session = ? ORDER BY number", (session,)
        ).fetchall()
        return [
            loads(line)
            for number, line, given in rows
            if hmac.compare_digest(str(given), self._seal(session, number, line))
        ]

    def _admits(self, facts: Sequence[Json], visitor: str) -> bool:
        return bool(facts) and (not visitor or ["visitor", visitor] in facts)

    def _seal(self, session: str, number: int, line: str) -> str:
        return seal_with(self._key, "state fact", session, str(number), line)


def forget(found: Transaction, session: str) -> None:
    """Delete everything that is saved of a session."""
    for table in OWNED:
        found.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - our own names
