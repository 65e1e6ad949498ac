"""Boxes that a Swing table paints in its cells."""

import subprocess
from pathlib import Path

import anyio
import pytest

from introspection.demos import PATIENCE, SWING_TYPES, Demo, display, failure, needs, running
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.target import Target

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


async def test_the_box_of_a_row_is_set_by_the_row_and_by_its_cell(tmp_path: Path) -> None:
    needs("Xvfb")
    source = Path(__file__).with_name("Checks.java")
    await anyio.to_thread.run_sync(lambda: subprocess.run(["javac", "-d", str(tmp_path), str(source)], check=True))

    async with display() as screen, running(["java", "-cp", str(tmp_path), "Checks"], screen) as pid:
        backend = await JavaFxBackend.attach(pid)
        demo = Demo("swing", Target("checks", backend, seconds=PATIENCE), SWING_TYPES)
        table = await demo.uid("#birds")
        by_row = await demo.do({"type": "setChecked", "target": f"{table}:r1", "checked": True})
        by_cell = await demo.do({"type": "setChecked", "target": f"{table}:r0:cSeen", "checked": False})
        by_name = await demo.do({"type": "setChecked", "target": f"{table}:r0:cName", "checked": True})
        outline = await as_text(demo.target, SnapshotRequest())
        await backend.close()

    assert (by_row.error, by_cell.error) == (None, None)
    assert failure(by_name).details["reason"] == "UNSUPPORTED_TARGET_TYPE"
    assert 'r0 "robin" "false" selected unchecked' in outline
    assert 'r1 "wren" "true" checked' in outline
