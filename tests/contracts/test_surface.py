"""What others see of the package changes only on purpose: it is recorded in contracts/surface.json."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_the_surface_is_the_recorded_one() -> None:
    compared = subprocess.run(
        [sys.executable, ROOT / "scripts" / "surface.py"], capture_output=True, text=True, timeout=300, check=False
    )

    assert compared.returncode == 0, f"{compared.stdout}{compared.stderr}"
