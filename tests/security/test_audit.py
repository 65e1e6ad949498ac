"""The audit of dependencies asks about everything an installation brings along, and is a step of the workflow."""

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    import audit

    return audit


def test_everything_shipped_is_asked_about(audit: Any) -> None:
    shipped = audit.shipped()

    assert {"starlette", "uvicorn", "lupa", "h11", "psycopg", "websockets"} <= shipped.keys()
    assert "mcp" not in shipped  # the SDK is for tests only
    assert not {"playwright", "pytest", "ruff", "mypy", "ui-mcp"} & shipped.keys()


def test_the_audit_is_a_step_of_the_workflow() -> None:
    assert "run: make audit" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "\naudit:" in (ROOT / "Makefile").read_text()


KNOWN = {"name": "old", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
SKIPPED = {"name": "new", "skip_reason": "not found"}
CLEAN = {"name": "fine", "version": "1", "vulns": []}


@pytest.mark.parametrize(
    ("packages", "code", "words"),
    [
        ([CLEAN], 0, "no advisory is known"),
        ([KNOWN, SKIPPED], 1, "old 1: CVE-1, fixed in: 2"),
        ([SKIPPED, CLEAN], 2, "NOT CHECKED: 1 of 2, the first because: not found"),
    ],
)
def test_what_could_not_be_asked_is_told_apart_from_what_is_safe(
    audit: Any, packages: list[dict[str, object]], code: int, words: str
) -> None:
    told = audit.verdict("P", "the index", lambda: audit.python_advisories({"dependencies": packages}))

    assert (told.code, words in told.text) == (code, True), told


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ({"vulnerabilities": {}}, 0, "no advisory is known"),
        ({"vulnerabilities": {"a": {"name": "a", "severity": "high"}}}, 1, "a: high"),
        ({"message": "405 Method Not Allowed"}, 2, "again where the index can be reached"),
    ],
)
def test_so_are_the_packages_of_the_page(audit: Any, answer: dict[str, object], code: int, words: str) -> None:
    told = audit.verdict("P", "the index", lambda: audit.page_advisories(answer))

    assert (told.code, words in told.text) == (code, True), told
