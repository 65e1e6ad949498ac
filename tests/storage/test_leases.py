"""Leases in a database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ui_mcp.errors import UiMcpError
from ui_mcp.storage.leases import Lease, LeaseTable, holder_name
from ui_mcp.storage.schema import Failure, Schema, T, Transaction
from ui_mcp.storage.sqlite import SqliteFile

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-9")]
TABLE = "CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT, fence INTEGER, until REAL);"
LEASES = LeaseTable("leases", "name", postgres=False)


def failed(failure: Failure, message: str, **details: object) -> UiMcpError:
    return UiMcpError(message, failure=failure, **details)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteFile]:
    opened = SqliteFile(tmp_path / "leases.db", Schema("lease", failed, (TABLE,)))
    yield opened
    opened.close()


async def done(database: SqliteFile, work: Callable[[Transaction], T]) -> T:
    return await database.transaction(work)


async def test_a_lease_is_renewed_only_while_it_is_the_newest(database: SqliteFile) -> None:
    first = await done(database, lambda found: LEASES.take(found, "x", "host:0:a", -1))
    assert first == Lease("host:0:a", 1)
    assert await done(database, lambda found: LEASES.renew(found, "x", first, -1))

    second = await done(database, lambda found: LEASES.take(found, "x", "host:0:b", -1))

    assert second == Lease("host:0:b", 2)
    # It has expired as well, but something was written under it.
    assert not await done(database, lambda found: LEASES.renew(found, "x", first, 60))
    assert not await done(database, lambda found: LEASES.holds(found, "x", first))
    assert await done(database, lambda found: LEASES.holds(found, "x", second))


async def test_a_dropped_lease_is_free_at_once_and_counts_as_expired_later(database: SqliteFile) -> None:
    lease = await done(database, lambda found: LEASES.take(found, "x", holder_name(), 60))
    assert lease is not None
    assert await done(database, lambda found: LEASES.take(found, "x", "host:0:b", 60)) is None

    await done(database, lambda found: LEASES.drop(found, "x", lease))

    assert await done(database, lambda found: LEASES.expired(found, 3600)) == []
    assert await done(database, lambda found: LEASES.expired(found, -1)) == ["x"]
    assert await done(database, lambda found: LEASES.take(found, "x", "host:0:b", 60)) == Lease("host:0:b", 2)
