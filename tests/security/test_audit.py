"""The audit of dependencies asks about everything an installation brings along, and is a step of the workflow."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_everything_shipped_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    import audit

    shipped = audit.shipped()

    assert {"starlette", "uvicorn", "mcp", "lupa", "h11", "pydantic-core", "psycopg", "playwright"} <= shipped.keys()
    assert not {"pytest", "ruff", "mypy", "ui-mcp"} & shipped.keys()


def test_the_audit_is_a_step_of_the_workflow() -> None:
    assert "run: make audit" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "\naudit:" in (ROOT / "Makefile").read_text()
