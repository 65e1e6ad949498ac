"""A whole server inside the test's event loop, with real listeners."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ui_mcp.app.ui_server import open_host
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.states import Running


@asynccontextmanager
async def running_server(
    folder: Path, announcements: Announcements | None = None, **flags: object
) -> AsyncIterator[Running]:
    """Configure and start a server below `folder`; by default Lua runs in this process and may take long."""
    given = {
        "lua.host": "thread",
        "lua.max_seconds": 60,
        **{name.replace("__", "."): value for name, value in flags.items()},
    }
    async with open_host(given, ListenPorts(), announcements or Announcements()) as host:
        await host.begin(str(folder / ".claude" / "ui"))
        yield await host.start()
