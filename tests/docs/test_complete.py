"""Nothing the program offers is left out of its texts."""

import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.agent.models import providers
from ui_mcp.cli.main import is_command
from ui_mcp.discovery import discover_modules
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.mcp import ui_resources
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.toolset import ui_toolset
from ui_mcp.workspace import BUNDLE

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from settings import PAGE, page  # noqa: E402

REFERENCE = (BUNDLE / "base" / "resources" / "reference.md").read_text()


@pytest.fixture
async def host() -> AsyncIterator[UiServer]:
    def serve(configured: object) -> None:
        raise AssertionError("these tests start no server")

    async with UiServer(serve) as host:  # type: ignore[arg-type]
        yield host


async def test_the_reference_names_every_tool(host: UiServer) -> None:
    tools = [tool.name for tool in await ui_toolset(host).tools(Call()) if not tool.app_only]

    missing = [name for name in tools if f"`{name}`" not in REFERENCE]
    assert missing == [], "describe them in bundle/base/resources/reference.md"


async def test_the_reference_names_every_fixed_resource(host: UiServer) -> None:
    resources = await ui_resources(host, Announcements()).resources(Call())

    assert [entry.uri for entry in resources if entry.uri not in REFERENCE] == ["ui://reference"]


def test_the_page_about_the_agent_names_every_model_vendor() -> None:
    text = (ROOT / "docs" / "agent.md").read_text()

    assert [name for name in providers() if f"`{name}`" not in text] == []


def test_the_readme_names_every_command() -> None:
    from ui_mcp import cli

    readme = (ROOT / "README.md").read_text()
    commands = [module.__name__.rpartition(".")[2] for module in discover_modules(cli) if is_command(module)]

    assert [name for name in commands if not re.search(rf"`ui-mcp {name}\b", readme)] == []


def test_the_page_of_settings_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `python scripts/settings.py`"
