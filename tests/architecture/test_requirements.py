"""The requirements manifest: what we promise, in our own words, each promise with a test."""

import ast
import tomllib
from pathlib import Path

import pytest

TIERS = {"CORE", "EXTRA"}


@pytest.fixture(scope="session")
def manifest(root: Path) -> dict[str, dict[str, str]]:
    entries = [
        (name, entry)
        for file in sorted((root / "requirements").glob("*.toml"))
        for name, entry in tomllib.loads(file.read_text()).items()
    ]
    twice = sorted({name for name, _ in entries if [other for other, _ in entries].count(name) > 1})
    if twice:
        pytest.fail(f"listed in two files: {', '.join(twice)}")
    return dict(entries)


@pytest.fixture(scope="session")
def covered(root: Path) -> dict[str, list[str]]:
    """Which requirement is named by which test files."""
    found: dict[str, list[str]] = {}
    for file in sorted((root / "tests").rglob("*.py")):
        for name in _covered_by(ast.parse(file.read_text())):
            found.setdefault(name, []).append(str(file.relative_to(root)))
    return found


def _covered_by(tree: ast.AST) -> list[str]:
    return [
        argument.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "covers"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def test_each_entry_is_one_sentence_with_a_tier(manifest: dict[str, dict[str, str]]) -> None:
    for name, entry in manifest.items():
        assert entry.keys() <= {"text", "tier"}, name
        assert entry["text"].strip(), name
        assert "\n" not in entry["text"].strip(), name
        assert entry.get("tier", "CORE") in TIERS, name


def test_each_listed_requirement_has_a_test(manifest: dict[str, dict[str, str]], covered: dict[str, list[str]]) -> None:
    assert sorted(manifest.keys() - covered.keys()) == []


def test_each_requirement_a_test_names_is_listed(
    manifest: dict[str, dict[str, str]], covered: dict[str, list[str]]
) -> None:
    unlisted = {name: files for name, files in sorted(covered.items()) if name not in manifest}

    assert unlisted == {}
