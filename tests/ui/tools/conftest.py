from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.app.ui_server import open_host
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running


@pytest.fixture
def announcements() -> Announcements:
    return Announcements()


@pytest.fixture
def lua_seconds() -> float:
    """The time budget of one entry into Lua: one no machine is too busy for, unless a test wants it short."""
    return 60.0


@pytest.fixture
async def host(tmp_path: Path, announcements: Announcements, lua_seconds: float) -> AsyncIterator[UiServer]:
    """A configured host with real listeners once it is started; Lua runs in this process."""
    async with open_host({"lua.host": "thread", "lua.max_seconds": lua_seconds}, ListenPorts(), announcements) as host:
        await host.begin(str(tmp_path / ".claude" / "ui"))
        yield host


@pytest.fixture
async def running(host: UiServer) -> Running:
    return await host.start()
