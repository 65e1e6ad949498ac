"""A few tasks of MiniWoB++, each by its oracle; `make miniwob` solves all of them."""

from pathlib import Path

import pytest

from miniwob_tasks.hands import browser
from miniwob_tasks.run import solve
from miniwob_tasks.site import package, serving

pytestmark = pytest.mark.slow

SAMPLE = (
    "book-flight-nodelay", "choose-date", "click-collapsible-2", "click-pie", "daily-calendar", "drag-shapes",
    "email-inbox", "order-food", "social-media", "text-editor",
)  # fmt: skip


@pytest.mark.covers("IN-142")
def test_tasks_on_pages_of_others_are_solved_by_reading_outlines(tmp_path: Path) -> None:
    with serving(package()) as site, browser(site.url("click-test", 0)) as ui:
        results = [solve(ui, site, task, seed=3) for task in SAMPLE]

    assert [(result.task, result.error) for result in results if not result.solved] == []
