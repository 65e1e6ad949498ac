"""Runs `nlui` as a process on its demo: the scripted model and the small shop."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def nlui_demo(folder: Path) -> Iterator[str]:
    """Yield the address of the chat."""
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "c"), "XDG_DATA_HOME": str(folder / "d")}
    command = [sys.executable, "-m", "ui_mcp", "nlui", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **home}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("nlui: chat at "), line
        try:
            yield line.split()[-1]
        finally:
            process.terminate()
            process.wait(timeout=20)
