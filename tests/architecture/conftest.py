"""The repository as seen by its architecture tests."""

import ast
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@cache
def parsed(file: Path) -> ast.Module:
    """Return a module's syntax tree, parsed once for all tests."""
    return ast.parse(file.read_text())


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """Every file of the repository; in an unpacked sdist, every file there is."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = listing.stdout.split("\0") if listing.returncode == 0 else [str(path) for path in ROOT.rglob("*")]
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]
