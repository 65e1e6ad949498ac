from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.app.doors import Doors
from ui_mcp.app.ui import open_host
from ui_mcp.host.host import Host
from ui_mcp.host.states import Running
from ui_mcp.toolkit.announcements import Announcements


@pytest.fixture
def announcements() -> Announcements:
    return Announcements()


@pytest.fixture
async def host(tmp_path: Path, announcements: Announcements) -> AsyncIterator[Host]:
    """A configured host with real listeners once it is started; Lua runs in this process."""
    async with open_host({"lua.host": "thread", "lua.max_seconds": 1.0}, Doors(), announcements) as host:
        await host.begin(str(tmp_path / ".claude" / "ui"))
        yield host


@pytest.fixture
async def running(host: Host) -> Running:
    return await host.start()
