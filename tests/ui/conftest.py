"""A host with stand-in sessions, so that only the lifecycle is under test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.registry import SessionRegistry
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


def _sessions() -> SessionRegistry:
    return SessionRegistry.__new__(SessionRegistry)


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
async def host(served: Served) -> AsyncIterator[UiServer]:
    async with UiServer(served) as host:
        yield host
        await host.stop()
