"""The Python of our texts runs, with the names a reader would have at hand."""

import ast
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.blocks import ROOT, Block, blocks, together
from docs.terminal import Terminal
from lua_runtime.workers import Recorded
from mcp_server.wire import wired
from ui_mcp.lua_runtime.interface import EntryContext, WorkerConfig
from ui_mcp.lua_runtime.worker_process import ProcessWorkerHost
from ui_mcp.mcp_client.client import Options, connect
from ui_mcp.mcp_client.transport import Command
from ui_mcp.mcp_server.results import OverflowFiles
from ui_mcp.testing.project import make_workspace, settings
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.mcp import ui_resources
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.registry import ServerInfo, SessionRegistry
from ui_mcp.ui.toolset import ui_toolset
from ui_mcp.ui.viewdef_store import ViewdefStore
from ui_mcp.wire import Op

SCRIPTED = """
llm: {{provider: scripted, script: [{{emit: [{{say: Rex}}, {{call: loop_yield_turn}}]}}]}}
targets: [{{name: petstore, base_url: "{service}"}}]
data_dir: data
"""


async def run(code: str, **names: Any) -> dict[str, Any]:
    """Run code that may await at its top, and return every name it leaves."""
    done = eval(compile(code, "docs", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.iscoroutine(done):
        await done
    return names


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@together("run", *blocks("docs/engine.md"))
async def test_a_worker_is_launched_opened_and_watched(given: tuple[Block], here: Path) -> None:
    outputs = Recorded()
    at_hand = {
        "ProcessWorkerHost": ProcessWorkerHost,
        "WorkerConfig": WorkerConfig,
        "Op": Op,
        "store": ViewdefStore(),
        "facts": EntryContext(),
    }

    left = await run(given[0].code, outputs=outputs, **at_hand)

    await left["worker"].close()
    assert left["reply"].fault is None
    assert [connection for connection, _ in outputs.frames] == [1]


@together("run", *blocks("docs/session.md"))
async def test_a_session_is_found_shown_asked_and_attached_to(given: tuple[Block], tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, ROOT / "examples" / "contacts")
    announcements = Announcements()
    async with UiServer(lambda _: None) as server:  # type: ignore[arg-type, return-value]
        left = await run(
            given[0].code, SessionRegistry=SessionRegistry, ServerInfo=ServerInfo, workspace=workspace,
            config=settings(), server=server, announcements=announcements,
        )  # fmt: skip

    assert left["session"].vended == "1"


@together("run", *blocks("docs/mcp.md"))
async def test_a_definition_is_served_and_a_foreign_server_called(
    given: tuple[Block, Block], terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving, mounting = given
    announcements = Announcements()
    async with UiServer(lambda _: None) as server:  # type: ignore[arg-type, return-value]
        left = await run(
            serving.code, version="1", toolset=ui_toolset(server), resources=ui_resources(server, announcements),
            announcements=announcements, OverflowFiles=OverflowFiles, workspace=make_workspace(terminal.home),
        )  # fmt: skip
        async with wired(left["definition"]) as wire:
            hello = await wire.shake_hands()
    assert hello["result"]["serverInfo"]["title"] == "UI MCP"

    monkeypatch.setenv("PATH", terminal.environment["PATH"])
    told: list[Any] = []
    at_hand = {"connect": connect, "Command": Command, "Options": Options, "call": Call()}
    await run(mounting.code, listed=told.append, updated=lambda *news: told.append(news), **at_hand)


@together("run", *blocks("docs/nlui.md", "python"))
async def test_the_gateway_works_inside_a_program(
    given: tuple[Block], here: Path, service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "nlui.yaml").write_text(SCRIPTED.format(service=service))

    await run(given[0].code)

    said = capsys.readouterr().out
    assert "petstore__getPetById" in said
    assert "Rex" in said
    assert "done" in said


@together("run", *blocks("docs/testing.md"))
def test_the_test_of_an_app_passes(given: tuple[Block], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests" / "examples" / "fixtures" / "adder", tmp_path / "apps" / "adder")
    (tmp_path / "test_adder.py").write_text(given[0].code)
    (tmp_path / "pytest.ini").write_text("[pytest]\nanyio_mode = auto\n")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip

    assert "1 passed" in done.stdout, done.stdout
