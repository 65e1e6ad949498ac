"""A process that takes a lease and freezes in the middle of a transaction, as by SIGSTOP or a paused machine."""

import os
import signal
from contextlib import closing

import anyio

from ui_mcp.errors import UiMcpError
from ui_mcp.storage import postgres
from ui_mcp.storage.leases import Lease, LeaseTable
from ui_mcp.storage.postgres import PostgresDatabase
from ui_mcp.storage.schema import Failure, Schema, Transaction

TABLE = (
    "CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, holder TEXT, fence INTEGER, until DOUBLE PRECISION);"
    "CREATE TABLE IF NOT EXISTS written (text TEXT);"
)
LEASES = LeaseTable("leases", "name", postgres=True)
FIRST = "elsewhere:1:a"
REFUSED = 7


def failed(failure: Failure, message: str, **details: object) -> UiMcpError:
    return UiMcpError(message, failure=failure, **details)


SCHEMA = Schema("lease", failed, (TABLE,), lock=1)


def write_frozen(url: str) -> None:
    """Freeze after the lease was found to be ours, and before anything is written; then try the same again."""
    postgres.IDLE_SECONDS = 1

    def work(found: Transaction) -> bool:
        held = LEASES.holds(found, "x", Lease(FIRST, 1))
        if held:
            os.kill(os.getpid(), signal.SIGSTOP)
            found.execute("INSERT INTO written VALUES (?)", ("late",))
        return held

    async def run() -> None:
        with closing(PostgresDatabase(url, SCHEMA)) as database:
            await database.transaction(lambda found: LEASES.take(found, "x", FIRST, -1))
            try:
                await database.transaction(work)
            except UiMcpError as error:
                again = await database.transaction(work)
                raise SystemExit(REFUSED if (error.details["failure"], again) == ("busy", False) else 1) from error

    anyio.run(run)
