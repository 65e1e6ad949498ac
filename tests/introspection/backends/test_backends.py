"""UI backends: a kind of UI is one file."""

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ui_mcp.cli import attach as command
from ui_mcp.config import Config
from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import backends
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.introspection.tools import attach as tool
from ui_mcp.toolkit.tool import Call
from ui_mcp.validation import read

TERMINAL = '''
"""A program in a terminal."""

from ui_mcp.introspection.backend import Attachment, Backend


class Terminal:
    kind = "terminal"

    def __init__(self, where):
        self.where = where

    async def describe(self):
        return f"the terminal {self.where}"

    def alive(self):
        return True


async def attach(request):
    return Attachment("terminal", "terminal", "a shell", url=request.url)


async def connect(attached):
    return Terminal(attached.url)


BACKEND = Backend("terminal", "DEVICE", "a terminal", attach, open=connect)
'''


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add one file to the package, before the tool that lists the kinds is imported."""
    (tmp_path / "terminal.py").write_text(TERMINAL)
    with monkeypatch.context() as patch:
        patch.setattr(backends, "__path__", [*backends.__path__, str(tmp_path)])
        importlib.reload(tool)
        yield
    sys.modules.pop("ui_mcp.introspection.backends.terminal", None)
    importlib.reload(tool)


def registry(folder: Path) -> TargetRegistry:
    config = read(Config, {"introspection": {"allow_attach": True}})
    return TargetRegistry(lambda: config, lambda: folder, lambda: None)


@pytest.mark.usefixtures("terminal")
async def test_a_kind_of_ui_is_one_file(tmp_path: Path) -> None:
    targets = registry(tmp_path / "targets")

    result = await tool.attach.body(targets, tool.AttachArgs(kind="terminal", url="/dev/tty1"), Call())
    target = await targets.target("terminal")

    assert result.structured == {"target": "terminal", "kind": "terminal", "title": "a shell"}
    assert await target.backend.describe() == "the terminal /dev/tty1"


@pytest.mark.usefixtures("terminal")
def test_a_new_kind_is_offered_to_agents_and_to_people() -> None:
    parser = argparse.ArgumentParser()
    command.arguments(parser)

    assert tool.attach.tool.input_schema["properties"]["kind"]["enum"] == [*backends.backends()]
    assert parser.parse_args(["--terminal", "/dev/tty1"]).terminal == "/dev/tty1"


def test_a_kind_that_is_not_there_is_refused() -> None:
    with pytest.raises(UiArgumentError, match=f"there are: {', '.join(backends.backends())}"):
        backends.backend_of("terminal")
