"""The constants of the wire have one source, from which both sides are generated."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from ui_mcp import wire


@pytest.fixture(scope="module")
def script(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("wire_script", root / "scripts" / "wire.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.covers("UI-WIRE-15")
def test_generated_constants_are_those_of_the_contract(script: ModuleType) -> None:
    stale = [str(file) for file, text in script.generated().items() if file.read_text() != text]
    assert stale == [], "run scripts/wire.py"


@pytest.mark.covers("UI-WIRE-15")
def test_only_the_end_of_a_session_keeps_a_page_away() -> None:
    assert frozenset({wire.SESSION_ENDED}) == wire.FINAL


def test_close_codes_are_written_nowhere_else(root: Path) -> None:
    sources = [*(root / "src" / "ui_mcp").rglob("*.py"), *(root / "web" / "src").rglob("*.ts")]
    generated = {root / "src" / "ui_mcp" / "wire.py", root / "web" / "src" / "wire.gen.ts"}
    again = [file for file in sources if file not in generated and "SESSION_ENDED = " in file.read_text()]
    assert again == []
