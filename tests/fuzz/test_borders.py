"""Whatever comes over a border, its neighbour still answers: a short run of what `make fuzz` does at length."""

from pathlib import Path

import pytest

from fuzz.border import Border, feed, ran
from fuzz.everything import BORDERS


@pytest.mark.slow
@pytest.mark.covers("UI-ROB-6")
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("border", BORDERS, ids=[border.name.replace(" ", "-") for border in BORDERS])
def test_no_case_ends_the_border_or_its_neighbour(border: Border, tmp_path: Path) -> None:
    before = ran[border.name]

    feed(border, tmp_path, border.share)

    assert ran[border.name] - before >= border.share * 0.9  # a strategy may run out of cases that differ


def test_a_short_run_has_at_most_six_thousand_cases() -> None:
    assert 4500 <= sum(border.share for border in BORDERS) <= 6000
