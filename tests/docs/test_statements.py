"""Every statement of docs/statements.md names a test that exists."""

import re
from collections import Counter

import pytest

from docs.blocks import ROOT
from docs.proofs import names_of_tests, proved_rows

PAGE = (ROOT / "docs/statements.md").read_text("utf-8")
SECTIONS = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)


def section(name: str) -> str:
    return PAGE.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]


@pytest.mark.covers("DOC-PROOF-1")
@pytest.mark.parametrize("name", SECTIONS)
def test_every_statement_names_a_test_that_exists(name: str) -> None:
    missing = [f"{file}::{test}" for _, file, test in proved_rows(section(name)) if test not in names_of_tests(file)]

    assert missing == []


@pytest.mark.covers("DOC-PROOF-1")
def test_nothing_is_stated_twice() -> None:
    stated = Counter((name, text) for name in SECTIONS for text, _, _ in proved_rows(section(name)))

    assert [text for text, times in stated.items() if times > 1] == []
