"""Files and directories that apps link into `html/`."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from servers import running_server
from ui_mcp.ui.states import Running


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        yield running


async def status_of(running: Running, path: str) -> tuple[int, str]:
    async with httpx2.AsyncClient(timeout=60) as client:
        found = await client.get(f"{running.url}{path}")
    return found.status_code, found.text if found.status_code == 200 else ""


@pytest.mark.covers("UI-COMPAT-8")
async def test_what_an_app_links_is_served_and_nothing_beside_it(running: Running) -> None:
    data = running.workspace.base / "storage" / "jobs"
    data.mkdir(parents=True)
    (data / "a.md").write_text("# A")
    (data.parent / "private.md").write_text("no")
    (data / "out").symlink_to("/etc")
    session = running.sessions.get("1")

    await session.run_lua("os.execute('ln -sfn ../storage/jobs ' .. mcp:status().base_dir .. '/html/jobs')")

    assert await status_of(running, "/jobs/a.md") == (200, "# A")
    for path in ("/jobs/%2e%2e/private.md", "/private.md", "/jobs/out/hostname", "/jobs/"):
        assert (await status_of(running, path))[0] == 404, path
