"""A process that is frozen in the middle of a transaction, as by SIGSTOP or a paused machine, keeps no lease."""

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from threading import Timer

import pytest
from anyio import to_thread

from chat.conftest import postgres_server, postgres_url  # noqa: F401 - fixtures
from storage.frozen_holder import LEASES, REFUSED, SCHEMA, write_frozen
from stores import opened
from ui_mcp.storage.leases import Lease
from ui_mcp.storage.postgres import PostgresDatabase

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-9")]


async def frozen(holder: SpawnProcess) -> None:
    holder.start()
    assert holder.pid is not None
    _, status = await to_thread.run_sync(os.waitpid, holder.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


async def test_another_process_takes_the_lease_of_one_that_is_frozen_in_a_transaction(
    postgres_url: Callable[[], str],  # noqa: F811 - the fixture
) -> None:
    url = postgres_url()
    holder = get_context("spawn").Process(target=write_frozen, args=(url,))
    await frozen(holder)
    hangs = Timer(40, holder.kill)
    hangs.start()
    try:
        async with opened(PostgresDatabase, url, SCHEMA) as database:
            taken = await database.transaction(lambda found: LEASES.take(found, "x", "elsewhere:2:b", 60))
            assert holder.pid is not None
            os.kill(holder.pid, signal.SIGCONT)
            await to_thread.run_sync(holder.join)

            assert taken == Lease("elsewhere:2:b", 2)
            assert holder.exitcode == REFUSED
            assert await database.rows("SELECT text FROM written") == []
    finally:
        hangs.cancel()
        holder.kill()
