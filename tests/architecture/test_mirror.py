"""The tests of a package are found by its path: `src/ui_mcp/x/y.py` is tested below `tests/x`."""

from pathlib import Path

CROSS_CUTTING = {
    "architecture": "the repository itself",
    "conformance": "the conformance suite of MCP",
    "contracts": "what others see of the program",
    "docs": "the documents",
    "compat": "projects of ui-engine and frictionless",
    "e2e": "the page in a real browser",
    "examples": "the example apps",
    "fuzz": "random data at every border",
    "hosts": "MCP hosts from npm",
    "integration": "several processes together",
    "isolation": "what foreign servers and documents cannot do",
    "journeys": "whole stories of users",
    "miniwob_tasks": "tasks on web pages that others wrote",
    "recordings": "tasks that are shown once and played again",
    "packaging": "what is built and released",
    "scripts": "the scripts that a project gets",
    "security": "what attackers cannot do",
    "soak": "many users for a long time",
}
"""Folders of tests that belong to no package."""
TESTED_ELSEWHERE = {
    "cli/doctor": "cli/test_doctor.py",
    "introspection/backends/chromium": "e2e/introspect_browser",
    "introspection/recording": "e2e/recording",
    "introspection/tools": "e2e/introspect_suite",
    "storage": "chat/test_store.py",
}
"""Packages without a folder of tests, and what tests them."""


def test_every_package_has_a_folder_of_tests(root: Path) -> None:
    packages = _folders(root / "src" / "ui_mcp", "*.py")

    missing = [name for name in packages if not (root / "tests" / name).is_dir() and name not in TESTED_ELSEWHERE]

    assert missing == []


def test_every_folder_of_tests_belongs_to_a_package(root: Path) -> None:
    folders = [name for name in _folders(root / "tests", "test_*.py") if name.split("/")[0] not in CROSS_CUTTING]

    strays = [name for name in folders if not (root / "src" / "ui_mcp" / name).is_dir()]

    assert strays == []


def test_the_exceptions_still_exist(root: Path) -> None:
    places = [*CROSS_CUTTING, *TESTED_ELSEWHERE.values()]

    assert [place for place in places if not (root / "tests" / place).exists()] == []


def _folders(top: Path, files: str) -> list[str]:
    return sorted({file.parent.relative_to(top).as_posix() for file in top.rglob(files) if file.parent != top})
