"""A few recordings of each kind, played twice; `make recordings` proves thirty, twenty times each."""

import pytest

from introspection.demos import needs
from recordings.apps import apps
from recordings.pages import tasks
from recordings.programs import programs
from recordings.run import prove

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.covers("IN-153")
def test_recordings_of_an_example_play_again_and_notice_a_change() -> None:
    needs("chromium")
    with apps(("contacts",)) as found:
        results = [prove(shown, times=2) for shown in found]

    assert [result.line() for result in results if not result.green] == []


@pytest.mark.covers("IN-153")
def test_recordings_on_pages_of_others_play_again_and_notice_a_change() -> None:
    needs("chromium")
    with tasks(("click-checkboxes", "email-inbox")) as found:
        results = [prove(shown, times=2) for shown in found]

    assert [result.line() for result in results if not result.green] == []


@pytest.mark.covers("IN-153")
def test_recordings_of_a_javafx_program_play_again_and_notice_a_change() -> None:
    with programs(("dialog",)) as found:
        results = [prove(shown, times=2) for shown in found]

    assert [result.line() for result in results if not result.green] == []
