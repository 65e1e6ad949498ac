"""Every measured figure in README and docs names the benchmark or test that it comes from."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.blocks import ROOT

GENERATED = ("benchmarks.md", "statements.md", "settings.md", "journeys", "reference")
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not {*page.parts} & {*GENERATED}),
]
TIMES = "\N{MULTIPLICATION SIGN}"
NAMES = "ms|milliseconds?|s|seconds?|minutes?|tokens?|[KMG]i?B|bytes|times|percent|elements|tools"
UNIT = rf"(?:\s?[%{TIMES}](?!\s\d)|\s(?:{NAMES})\b)"
FIGURE = re.compile(rf"(?<![\w.:/#])\d[\d,.]*{UNIT}")
LIMIT = re.compile(
    r"(?:at most|up to|more than|(?:less|longer|older) than|within(?: the next)?|every|after|per|≤|ends|or) $",
    re.IGNORECASE,
)
"""What comes before a figure that the program keeps to, which is no measurement."""
PROOF = re.compile(r"(?:benchmarks|statements)\.md(?:#[\w-]+)?\)|`((?:benchmarks|tests)/[\w/]+(?:\.py)?)(?![\w*])")
CODE = re.compile(r"^\s*```.*?^\s*```", re.DOTALL | re.MULTILINE)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield each paragraph, list item and table row, with what may prove it: itself, and the words before a table."""
    before = ""
    for piece in re.split(r"\n\s*\n|\n(?=\s*(?:\||[-*] |\d+\. ))", CODE.sub("", text)):
        is_row = piece.lstrip().startswith("|")
        yield piece, f"{before}\n{piece}" if is_row else piece
        before = before if is_row else piece


def measured(piece: str) -> list[str]:
    """Return the figures of a piece that are neither code nor limits."""
    plain = re.sub(r"`[^`]*`", "``", " ".join(piece.split()))
    return [one[0] for one in FIGURE.finditer(plain) if not LIMIT.search(plain[: one.start()])]


@pytest.mark.covers("DOC-PROOF-2")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_measured_figure_names_its_benchmark_or_test(page: Path) -> None:
    unproved = [
        (figures, " ".join(piece.split())[:120])
        for piece, proof in pieces(page.read_text("utf-8"))
        if (figures := measured(piece)) and not PROOF.search(proof)
    ]

    assert unproved == [], "link to benchmarks.md#AREA, or name `benchmarks/x.py` or `tests/x.py`"


@pytest.mark.covers("DOC-PROOF-2")
def test_the_benchmarks_and_tests_that_texts_name_exist() -> None:
    named = {found for page in PAGES for found in PROOF.findall(page.read_text("utf-8")) if found}

    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_figures_are_told_from_limits_and_code() -> None:
    assert measured(f"It needs 0.5 {TIMES} the tokens, about 20 KB and\n6 ms.") == [f"0.5 {TIMES}", "20 KB", "6 ms"]
    assert measured(f"At most 50 ms, `sleep 5 s`, 1280 {TIMES} 800, waits up to 30 s, version 1.2") == []
    assert [proof for piece, proof in pieces("By `benchmarks/x.py`:\n\n| a | 3 ms |") if measured(piece)] == [
        "By `benchmarks/x.py`:\n| a | 3 ms |"
    ]
