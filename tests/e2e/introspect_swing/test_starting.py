"""Attaching to a Swing program that is still starting changes nothing in it."""

import subprocess
from pathlib import Path

import anyio
import pytest

from introspection.demos import PATIENCE, display, needs, running
from ui_mcp.errors import UiNoStagesError
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.target import Target, ask_for

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


async def test_a_program_attached_before_its_first_window_starts_as_without(tmp_path: Path) -> None:
    needs("Xvfb")
    source = Path(__file__).with_name("Late.java")
    await anyio.to_thread.run_sync(lambda: subprocess.run(["javac", "-d", str(tmp_path), str(source)], check=True))
    go = tmp_path / "go"

    async with display() as screen, running(["java", "-cp", str(tmp_path), "Late", str(go)], screen) as pid:
        backend = await JavaFxBackend.attach(pid)
        target = Target("late", backend, seconds=PATIENCE)
        with pytest.raises(UiNoStagesError):
            await target.capture(CaptureRequest(stage="all"))
        go.touch()

        assert await said(target) == "finds classes"
        await backend.close()


async def said(target: Target) -> str:
    """Wait for the window, and return what its label says."""
    by_name = Selector(css="#said")
    with anyio.fail_after(PATIENCE):
        while True:
            try:
                if found := await target.find(by_name, ask_for(by_name)):
                    return str(found[0].record["l"])
            except UiNoStagesError:
                pass
            await anyio.sleep(0.05)
