from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.testing.project import make_workspace, open_sessions, settings
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


@pytest.fixture
async def sessions(workspace: Workspace) -> AsyncIterator[SessionRegistry]:
    async with open_sessions(workspace) as sessions:
        yield sessions


@pytest.fixture
def session(sessions: SessionRegistry) -> Session:
    return sessions.get("1")


@pytest.fixture
async def hasty_sessions(workspace: Workspace) -> AsyncIterator[SessionRegistry]:
    async with open_sessions(workspace, settings(max_seconds=2)) as sessions:
        yield sessions
