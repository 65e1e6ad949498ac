"""Versions: how they are read and ordered."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.version import Version, version_in, version_line

numbers = st.tuples(*[st.integers(0, 10**6)] * 3)


@pytest.mark.covers("UI-INST-2")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("0.9.0", "0.10.0"),
        ("0.0.9", "0.0.10"),
        ("9.0.0", "10.0.0"),
        ("1.0.0-rc.1", "1.0.0"),
        ("1.0.0-rc.2", "1.0.0-rc.10"),
        ("1.0.0-alpha", "1.0.0-beta"),
        ("1.0.0-1", "1.0.0-alpha"),
    ],
)
def test_versions_are_ordered_by_number_not_by_letter(older: str, newer: str) -> None:
    first, second = Version.parse(older), Version.parse(newer)

    assert first is not None
    assert second is not None
    assert first < second
    assert second > first


@given(numbers, numbers)
def test_order_is_that_of_the_three_numbers(first: tuple[int, int, int], second: tuple[int, int, int]) -> None:
    assert (Version(first) < Version(second)) == (first < second)


@given(st.text())
def test_any_text_is_read_or_refused_without_an_error(text: str) -> None:
    found = Version.parse(text)

    assert found is None or Version.parse(str(found)) == found


@pytest.mark.parametrize("text", ["", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x", "01.2.3", " 1.2.3"])
def test_other_texts_are_no_versions(text: str) -> None:
    assert Version.parse(text) is None


@pytest.mark.covers("UI-REL-1")
def test_the_version_is_the_line_near_the_top_of_a_readme() -> None:
    assert version_line("# x\n\n**Version: 1.2.3**\n\nwords **Version: 9.9.9** words\n") == "1.2.3"
    assert version_line("# x\n\nVersion: 1.2.3\n") is None


def test_a_readme_that_is_missing_or_has_no_version_has_none(tmp_path: Path) -> None:
    (tmp_path / "odd.md").write_bytes(b"\xff\xfe no version")

    assert version_in(tmp_path / "absent.md") is None
    assert version_in(tmp_path / "odd.md") is None
