"""Discovery: a tool, a resource and a command are one file each."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ui_mcp import cli
from ui_mcp.app.ui_server import open_host
from ui_mcp.cli.main import run
from ui_mcp.introspection import tools as introspection_tools
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui import resources, tools
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.mcp import ui_resources
from ui_mcp.ui.toolset import ui_toolset

TOOL = '''
from dataclasses import dataclass
from typing import Annotated

from ui_mcp.toolkit.functions import tool


@dataclass(frozen=True, slots=True)
class GreetArgs:
    name: Annotated[str, "Who is greeted."]


@tool("ui_greet", GreetArgs, title="Greet")
async def greet(context, args, call) -> str:
    """Greet somebody."""
    return f"hello {args.name}"
'''
RESOURCE = """
from ui_mcp.toolkit.resources import Resource, ResourceContent


class Greeting:
    async def resources(self, call):
        return [Resource("ui://greeting", "greeting", "A greeting.", "text/plain")]

    async def templates(self, call):
        return []

    async def read(self, uri, call):
        return [ResourceContent(uri, "text/plain", "hello")]


def provide(host, announcements):
    return Greeting()
"""
COMMAND = '''
"""Greet somebody."""

HELP = "greet somebody"


def arguments(parser):
    parser.add_argument("name")


def run(options):
    print(f"hello {options.name}")
    return 0
'''

Add = Callable[[ModuleType, str], None]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Add]:
    """Add one file, `greet.py`, to a package."""

    def add(package: ModuleType, code: str) -> None:
        (tmp_path / "greet.py").write_text(code)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])

    yield add
    for name in [name for name in sys.modules if name.startswith("ui_mcp.") and name.endswith(".greet")]:
        del sys.modules[name]


@pytest.mark.parametrize("package", [tools, introspection_tools])
async def test_a_tool_is_one_file(package: ModuleType, add: Add) -> None:
    add(package, TOOL)
    async with open_host({}, ListenPorts(), Announcements()) as host:
        toolset = ui_toolset(host)
        listed = {tool.name for tool in await toolset.tools(Call())}
        result = await toolset.call("ui_greet", {"name": "Ann"}, Call())

    assert "ui_greet" in listed
    assert result.content == (Text("hello Ann"),)


async def test_a_resource_is_one_file(add: Add) -> None:
    add(resources, RESOURCE)
    async with open_host({}, ListenPorts(), Announcements()) as host:
        found = ui_resources(host, Announcements())
        content = await found.read("ui://greeting", Call())

    assert [part.body for part in content] == ["hello"]


def test_a_command_is_one_file(add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    add(cli, COMMAND)

    assert run(["greet", "Ann"]) == 0
    assert capsys.readouterr().out == "hello Ann\n"
