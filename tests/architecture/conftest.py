"""The repository as seen by its architecture tests."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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
