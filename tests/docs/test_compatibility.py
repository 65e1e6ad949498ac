"""Every row of docs/compatibility.md says how a feature fares here and names a test that exists."""

import re

import pytest

from docs.blocks import ROOT
from docs.proofs import names_of_tests, proved_rows

PAGE = (ROOT / "docs/compatibility.md").read_text("utf-8")
SECTIONS = ("With ui-engine and frictionless", "With NLUI", "With adgn's chat", "With javafx-debug")
VERDICT = re.compile(r"\*\*(works|better|differs)\*\*")


def rows(section: str) -> list[tuple[str, str, str, str]]:
    """Return feature, verdict, and the file and name of the test."""
    text = PAGE.split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    found = []
    for said, file, test in proved_rows(text):
        feature, _, here = said.partition(" | ")
        found.append((feature, here, file, test))
    return found


@pytest.mark.parametrize("section", SECTIONS)
def test_every_row_has_a_verdict_and_a_test_that_exists(section: str) -> None:
    for feature, here, file, test in rows(section):
        assert VERDICT.match(here), feature
        assert test in names_of_tests(file), f"{file}::{test}"


@pytest.mark.parametrize("section", SECTIONS)
def test_what_differs_says_how(section: str) -> None:
    short = [feature for feature, here, _, _ in rows(section) if here.startswith("**differs**") and len(here) < 30]

    assert short == []
