"""A few kills under four Chromium pages, and the check itself; `make crash` kills 200 times, on both databases."""

from pathlib import Path

import pytest

from integration.state_kills.book import Model
from soak.crash import Say, opened
from soak.crash_disk import faulty

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.covers("STATE-1", "STATE-3")
def test_four_pages_lose_nothing_acknowledged_and_keep_focus_caret_and_half_typed_text(tmp_path: Path) -> None:
    with opened(tmp_path, "", seed=24) as crash:
        crash.run(edits=120, kills=3, say=Say("sqlite"))

    assert crash.kills.total() >= 3
    assert len(crash.model.saved) >= 30


@pytest.mark.covers("STATE-1")
@pytest.mark.parametrize("kind", ["full", "torn"])
def test_a_disk_that_is_full_or_tears_a_record_at_the_kill_loses_nothing_acknowledged(
    tmp_path: Path, kind: str
) -> None:
    with faulty(tmp_path, kind) as (place, fault), opened(place, "", seed=24, fault=fault) as crash:
        crash.run(edits=60, kills=3, say=Say(kind))

    assert crash.kills.total() >= 3
    assert len(crash.model.saved) >= 20


def test_the_check_reads_the_present_list_and_not_one_that_is_still_shown(tmp_path: Path) -> None:
    with opened(tmp_path, "", seed=24) as crash:
        [person, *_] = crash.people
        listed = []
        for number in range(3):
            text = person.edit()
            listed.append((text, person.listed(f"request {number}").partition("|")[0].split()))

    assert listed == [("0:1", ["0:1"]), ("0:2", ["0:1", "0:2"]), ("0:3", ["0:1", "0:2", "0:3"])]


@pytest.mark.parametrize(
    ("shown", "problem"),
    [
        ("0:1 1:1|2|2", "saved edits are lost: \\['0:2'\\]"),
        ("0:1 0:2 0:2|3|3", "there twice"),
        ("0:1 0:2 1:9|3|3", "nobody made"),
        ("0:2 0:1|2|2", "the order has changed"),
        ("0:1 0:2|1|2", "references and local variables"),
    ],
)
def test_the_model_sees_every_kind_of_damage(shown: str, problem: str) -> None:
    model = Model(2, sent={"0:1", "0:2", "1:1"}, saved={"0:1", "0:2"})
    model.check("0:1 1:1 0:2|3|3")

    with pytest.raises(AssertionError, match=problem):
        model.check(shown)
