"""A worker with its page, ready to use."""

from pathlib import Path

import pytest

from lua_runtime.cores import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
