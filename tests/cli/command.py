"""Runs the real commands as a person would."""

import os
import subprocess
import sys
from pathlib import Path


def run(module: str, *arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    own_directories = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", **own_directories, **environment},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def ui_mcp(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("ui_mcp", *arguments, cwd=cwd, **environment)
