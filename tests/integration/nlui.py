"""Runs `nlui` as a process: on its demo (the scripted model and the small shop), or on a configuration."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agreeing import agree_to_gateway


@contextmanager
def nlui_demo(folder: Path, *, stop: str = "terminate") -> Iterator[str]:
    """Yield the address of the chat."""
    with nlui(folder, "--port", "0", stop=stop) as url:
        yield url


@contextmanager
def nlui(folder: Path, *arguments: str, stop: str = "terminate", **environment: str) -> Iterator[str]:
    """Run `nlui` in a folder that is also its home and whose file the person agreed to; yield the chat's address."""
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "c"), "XDG_DATA_HOME": str(folder / "d")}
    if (folder / "nlui.yaml").is_file():
        agree_to_gateway(folder / "nlui.yaml", folder / "c")
    command = [sys.executable, "-m", "ui_mcp", "nlui", *arguments]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **home, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("nlui: chat at "), line
        try:
            yield line.split()[-1]
        finally:
            getattr(process, stop)()
            process.wait(timeout=60)
