"""Leases in a database: the right to write something, held by one process at a time and fenced by a number."""

import os
from secrets import token_hex
from socket import gethostname
from typing import TYPE_CHECKING

from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.processes import pid_exists

if TYPE_CHECKING:
    from ui_mcp.storage.schema import Transaction

SQLITE_NOW = "((julianday('now') - 2440587.5) * 86400.0)"
# PostgreSQL's own clock decides, because the clocks of the hosts may differ.
POSTGRES_NOW = "extract(epoch FROM clock_timestamp())"

# Compare-and-set: the lease is taken only if it is ours, its holder (the last value) is gone, or it has expired.
_TAKE = """
INSERT INTO {table} AS held ({key}, holder, fence, until) VALUES (?, ?, 1, {now} + ?)
ON CONFLICT ({key}) DO UPDATE SET
    fence = CASE WHEN held.holder = excluded.holder THEN held.fence ELSE held.fence + 1 END,
    holder = excluded.holder, until = excluded.until
WHERE held.holder IN (excluded.holder, ?) OR held.until <= {now}
"""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write, until a lease with a higher fencing number is issued."""

    holder: str
    fence: int


def holder_name() -> str:
    """Return a unique name of a lease holder, from which other processes of this host can find its pid."""
    return f"{gethostname()}:{os.getpid()}:{token_hex(16)}"


def is_gone(holder: str) -> bool:
    """Return whether a holder is known to be dead: its pid was on this host and does not exist."""
    host, _, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    if host != gethostname() or not pid.isdigit():
        return False
    return not pid_exists(int(pid))


class LeaseTable:
    """Leases in a table whose columns are a key, `holder`, `fence` and `until`, the end as a Unix time.

    Every method works inside a transaction of the caller.
    """

    def __init__(self, table: str, key: str, *, postgres: bool) -> None:
        self._table = table
        self._key = key
        self._now = POSTGRES_NOW if postgres else SQLITE_NOW
        # SQLite has one writer at a time anyway.
        self._lock = "FOR UPDATE" if postgres else ""

    def take(self, found: "Transaction", name: str, holder: str, seconds: float) -> Lease | None:
        """Return a lease for `seconds`, or None if another live process holds one; call again to renew it."""
        held = found.execute(self._sql("SELECT holder FROM {table} WHERE {key} = ?"), (name,)).fetchall()
        free = held[0][0] if held and is_gone(held[0][0]) else holder
        if not found.execute(self._sql(_TAKE), (name, holder, seconds, free)).rowcount:
            return None
        ((fence,),) = found.execute(self._sql("SELECT fence FROM {table} WHERE {key} = ?"), (name,)).fetchall()
        return Lease(holder, fence)

    def holds(self, found: "Transaction", name: str, lease: Lease) -> bool:
        """Return whether a lease is still the newest one; no process can take it before the transaction ends."""
        statement = self._sql("SELECT holder, fence FROM {table} WHERE {key} = ? {lock}")
        return found.execute(statement, (name,)).fetchall() == [(lease.holder, lease.fence)]

    def renew(self, found: "Transaction", name: str, lease: Lease, seconds: float) -> bool:
        """Prolong a lease; False if a newer one was issued, even if that has expired."""
        statement = self._sql("UPDATE {table} SET until = {now} + ? WHERE {key} = ? AND holder = ? AND fence = ?")
        return found.execute(statement, (seconds, name, lease.holder, lease.fence)).rowcount > 0

    def drop(self, found: "Transaction", name: str, lease: Lease) -> None:
        """Release a lease, so that another process can take it at once."""
        statement = self._sql("UPDATE {table} SET until = {now} WHERE {key} = ? AND holder = ? AND fence = ?")
        found.execute(statement, (name, lease.holder, lease.fence))

    def expired(self, found: "Transaction", seconds: float) -> list[str]:
        """Return the keys of leases that ended more than `seconds` ago."""
        statement = self._sql("SELECT {key} FROM {table} WHERE until < {now} - ?")
        return [name for (name,) in found.execute(statement, (seconds,)).fetchall()]

    def _sql(self, statement: str) -> str:
        return statement.format(table=self._table, key=self._key, now=self._now, lock=self._lock)
