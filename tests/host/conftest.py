"""A host with stand-in sessions, so that only the lifecycle is under test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ui_mcp.ui.server import Host
from ui_mcp.ui.sessions.registry import Sessions
from ui_mcp.ui.states import Configured, Running


class Served:
    """Records what the host serves."""

    def __init__(self) -> None:
        self.open: list[Path] = []
        self.fail: Exception | None = None

    @asynccontextmanager
    async def __call__(self, configured: Configured) -> AsyncIterator[Running]:
        if self.fail:
            raise self.fail
        self.open.append(configured.workspace.base)
        yield Running(configured.workspace, configured.config, _sessions(), "http://127.0.0.1:1", 2)
        self.open.remove(configured.workspace.base)


def _sessions() -> Sessions:
    return Sessions.__new__(Sessions)


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
async def host(served: Served) -> AsyncIterator[Host]:
    async with Host(served) as host:
        yield host
        await host.stop()
