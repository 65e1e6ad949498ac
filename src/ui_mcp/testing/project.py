"""A temporary project with sessions of its own, for tests."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from anyio import to_thread

from ui_mcp.config import Config
from ui_mcp.testing.browser import Browser, open_page
from ui_mcp.ui.sessions import session_file
from ui_mcp.ui.sessions.registry import ServerInfo, SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.validation import read
from ui_mcp.workspace import Workspace


def make_workspace(folder: Path, *apps: Path) -> Workspace:
    """Create an empty project below `folder` with copies of the given app directories."""
    workspace = Workspace.at(folder / ".claude" / "ui")
    for needed in workspace.folders:
        needed.mkdir(parents=True, exist_ok=True)
    for app in apps:
        shutil.copytree(app, workspace.apps / app.name, dirs_exist_ok=True)
    return workspace


def settings(**lua: object) -> Config:
    """Return settings for tests: Lua in this process with a generous time limit, unless overridden."""
    return read(Config, {"lua": {"host": "thread", "max_seconds": 60, **lua}})


class OpenApp(NamedTuple):
    """A displayed app: its session and a page that shows it."""

    session: Session
    browser: Browser


@asynccontextmanager
async def open_sessions(
    workspace: Workspace, config: Config | None = None, **server: object
) -> AsyncIterator[SessionRegistry]:
    """Run the sessions of a workspace while the block runs."""
    async with SessionRegistry(workspace, config or settings(), ServerInfo(**server)) as sessions:  # type: ignore[arg-type]
        yield sessions


@asynccontextmanager
async def open_app(app: Path, folder: Path, config: Config | None = None) -> AsyncIterator[OpenApp]:
    """Display a copy of one app directory and open a page on it; `folder` is an empty temporary directory."""
    async with open_sessions(make_workspace(folder, app), config) as sessions:
        session = sessions.get("1")
        await session.display(app.name)
        async with open_page(session) as browser:
            yield OpenApp(session, browser)


@asynccontextmanager
async def open_session_file(file: Path, folder: Path, config: Config | None = None) -> AsyncIterator[OpenApp]:
    """Continue a session that `ui-mcp session export` wrote, and open a page on it; `folder` is an empty directory.

    Raises:
        InvalidArgumentsError: it is no such file.
    """
    found = await to_thread.run_sync(session_file.read, file)
    workspace = make_workspace(folder)
    await to_thread.run_sync(found.unpack, workspace)
    async with open_sessions(workspace, config) as sessions:
        session = sessions.get("1")
        await session.bring(found.records)
        async with open_page(session) as browser:
            yield OpenApp(session, browser)
