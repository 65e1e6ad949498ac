"""A short storm; `make soak` runs a long one."""

from pathlib import Path

import pytest

from soak.run import soak

pytestmark = pytest.mark.slow


async def test_a_storm_of_people_and_kills_loses_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    outcome = await soak(tmp_path, 40)

    assert outcome.problems() == []
    assert outcome.server_kills + outcome.child_kills > 2
