"""A server with stand-in sessions, so that only the lifecycle is under test; a small bundle and an empty project."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.states import Configured, Running
from ui_mcp.workspace import Workspace

MakeBundle = Callable[..., Path]


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
    sessions = SessionRegistry.__new__(SessionRegistry)
    sessions._sessions = {}
    return sessions


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
async def host(served: Served) -> AsyncIterator[UiServer]:
    async with UiServer(served) as host:
        yield host
        await host.stop()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / "project" / ".claude" / "ui")


@pytest.fixture
def make_bundle(tmp_path: Path) -> MakeBundle:
    """Make a bundle of the given version; further files are given by their path in it."""

    def make(version: str, files: dict[str, str] | None = None) -> Path:
        root = tmp_path / f"bundle-{version}"
        standard = {
            "base/README.md": f"# ui-mcp\n\n**Version: {version}**\n",
            "base/event": "#!/bin/sh\necho event\n",
            "base/resources/lua.md": f"Lua guide of {version}\n",
            "claude/skills/ui/SKILL.md": f"Skill of {version}\n",
        }
        for path, text in {**standard, **(files or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    return make
