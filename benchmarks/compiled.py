"""Compiles our package to bytecode, as installers do, so that start-up figures do not include compilation."""

import compileall
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "ui_mcp"


@cache
def compile_ours() -> None:
    """Update the bytecode, even if PYTHONDONTWRITEBYTECODE is set."""
    compileall.compile_dir(PACKAGE, quiet=1)
