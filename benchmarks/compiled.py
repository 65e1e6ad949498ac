"""Our package as installers leave it, compiled: a start that compiles a hundred modules is nobody's start."""

import compileall
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "ui_mcp"


@cache
def compile_ours() -> None:
    """Bring the bytecode up to date, also where Python is told not to keep any (PYTHONDONTWRITEBYTECODE)."""
    compileall.compile_dir(PACKAGE, quiet=1)
