"""The machine is lost: what its disk has of each file is what was there at the last fsync of that file."""

import shutil
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from integration.state_kills.book import Model, Server
from integration.state_kills.test_kills import PAGES
from integration.state_kills.writers import Writer, shown
from soak.disk import failing_disk

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
FULL = '[session]\njournal = "full"\n'


def lose_machine(server: Server, synced: Path, folder: Path) -> Server:
    """Kill a server and start another from what was synced, in a directory with the same apps."""
    server.process.kill()
    server.process.wait()
    folder.mkdir()
    after = Server(folder, FULL)
    shutil.copytree(synced / "project" / ".ui" / ".ui-mcp", folder / ".ui" / ".ui-mcp", dirs_exist_ok=True)
    after.start()
    return after


@pytest.mark.covers("STATE-3")
@pytest.mark.timeout(300)
async def test_with_full_sync_what_was_saved_survives_a_power_cut(tmp_path: Path) -> None:
    with failing_disk(tmp_path) as disk:
        (disk.folder / "project").mkdir()
        server, model = Server(disk.folder / "project", FULL), Model(PAGES)
        await to_thread.run_sync(server.start)
        try:
            async with anyio.create_task_group() as people:
                for page in range(PAGES):
                    people.start_soon(Writer(page, server.url, model).run)
                with anyio.fail_after(120):
                    while len(model.saved) < 40:
                        await anyio.sleep(0.01)
                server.process.kill()
                people.cancel_scope.cancel()
            after = await to_thread.run_sync(lose_machine, server, disk.synced, tmp_path / "after")
            try:
                model.check(await shown(after.url))
            finally:
                await to_thread.run_sync(after.stop)
        finally:
            server.process.kill()
