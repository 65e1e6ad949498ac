"""A few kills under four Chromium pages; `make crash` does 200 of them, on both databases."""

from pathlib import Path

import pytest

from soak.crash import Say, crash

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.covers("STATE-1", "STATE-3")
def test_four_pages_lose_nothing_acknowledged_and_keep_focus_caret_and_half_typed_text(tmp_path: Path) -> None:
    seen = crash(tmp_path, "", edits=120, kills=3, say=Say("sqlite"))

    assert seen.kills.total() >= 3
    assert len(seen.model.saved) >= 30
