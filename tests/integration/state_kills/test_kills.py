"""Four people edit while worker and server are killed: what was confirmed as saved is there, and nothing is twice.

`STATE_KILLS=200 pytest tests/integration/state_kills --timeout 3600` kills more often.
"""

import os
import random
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from integration.state_kills.book import Model, Server
from integration.state_kills.writers import Writer, shown

KILLS = int(os.environ.get("STATE_KILLS", "6"))
PAGES = 4

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.mark.covers("STATE-1", "STATE-3")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_what_was_saved_survives_every_kill(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    url = "" if database == "sqlite" else f'[storage]\nurl = "{request.getfixturevalue("postgres_url")()}"\n'
    server, model = Server(tmp_path, url), Model(PAGES)
    await to_thread.run_sync(server.start)
    dice = random.Random(24)
    writers = [Writer(page, server.url, model) for page in range(PAGES)]
    try:
        for number in range(KILLS):
            async with anyio.create_task_group() as people:
                for writer in writers:
                    people.start_soon(writer.run)
                before = len(model.saved)
                with anyio.fail_after(60):
                    while len(model.saved) < before + 5:
                        await anyio.sleep(0.01)
                await anyio.sleep(dice.random() / 5)
                # Every third crash of a worker within a minute would end the session.
                await to_thread.run_sync(server.kill if number % 2 else server.kill_worker)
                people.cancel_scope.cancel()
            model.check(await shown(server.url))
    finally:
        await to_thread.run_sync(server.stop)
    assert len(model.saved) >= 5 * KILLS
