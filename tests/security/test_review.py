"""SECURITY.md as a list of promises: each names the tests that prove it, most of them beside the code they prove."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def promises() -> list[str]:
    """Return the points of the chapter that promises something."""
    text = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    chapter = text.partition("## Promises\n")[2].partition("\n## ")[0]
    return re.split(r"^- ", re.sub(r"^### .*$", "", chapter, flags=re.MULTILINE), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("promise", promises(), ids=lambda promise: promise[:60])
def test_each_promise_names_tests_that_exist(promise: str) -> None:
    named = NAMED.findall(promise)

    assert named
    for file, test in named:
        found = rf"^(async def|def|class) {test}\b"
        assert re.search(found, (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE), f"{file}::{test}"


def test_only_known_modules_unpack_archives() -> None:
    """Paths, links and sizes are tested in test_sources.py and test_session_file.py; another module needs its own."""
    source = TESTS.parent / "src" / "ui_mcp"
    unpacking = re.compile(r"\b(zipfile|tarfile|shutil\.unpack_archive|pickle|yaml\.load\()")
    files = [file for file in source.rglob("*.py") if unpacking.search(file.read_text(encoding="utf-8"))]

    assert {file.relative_to(source).as_posix() for file in files} == {
        "ui/console/sources.py",
        "ui/sessions/session_file.py",
    }
