"""Every row of docs/compatibility.md says how a feature fares here and names a test that exists."""

import ast
import re

import pytest

from docs.blocks import ROOT

PAGE = (ROOT / "docs/compatibility.md").read_text("utf-8")
SECTIONS = ("With ui-engine and frictionless", "With NLUI", "With adgn's chat", "With javafx-debug")
ROW = re.compile(r"^\| (?!there \||---)(.+) \| (.+) \| `([^`]+)` \|$", re.MULTILINE)
VERDICT = re.compile(r"\*\*(works|better|differs)\*\*")


def rows(section: str) -> list[tuple[str, str, str]]:
    text = PAGE.split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    found = ROW.findall(text)
    assert len(found) == text.count("\n| ") - 1, "a row without a test"
    return found


@pytest.mark.parametrize("section", SECTIONS)
def test_every_row_has_a_verdict_and_a_test_that_exists(section: str) -> None:
    for feature, here, proof in rows(section):
        file, _, name = proof.partition("::")
        assert VERDICT.match(here), feature
        assert (ROOT / file).is_file(), proof
        assert name in _functions(file), proof


@pytest.mark.parametrize("section", SECTIONS)
def test_what_differs_says_how(section: str) -> None:
    short = [feature for feature, here, _ in rows(section) if here.startswith("**differs**") and len(here) < 30]

    assert short == []


def _functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
