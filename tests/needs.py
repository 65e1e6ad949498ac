"""What tests need from the machine: without it they are skipped, and under CI they fail."""

import os
import shutil
import subprocess
import sys
from functools import cache
from typing import NoReturn

import pytest

from ui_mcp.gateway.search import vectors
from ui_mcp.gateway.search.vectors import TokenVectors

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def missing(what: str) -> NoReturn:
    """Skip the test; where everything is promised, fail it."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing")
    pytest.skip(f"{what} is missing")


def token_vectors() -> TokenVectors:
    """Return the vectors of search, which the build downloads."""
    found = vectors.token_vectors()
    if found is None:
        missing("The vectors of search (scripts/assets.py vectors)")
    return found


def browser() -> str:
    """Return the path of a browser that Playwright can drive."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        missing("Chromium (package chromium)")
    if not _driver_starts():
        missing("A library of Playwright's driver (package libatomic1)")
    return found


@cache
def _driver_starts() -> bool:
    return (
        subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True, check=False).returncode
        == 0
    )
