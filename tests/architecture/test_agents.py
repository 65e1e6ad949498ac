"""The agent for JVMs: constants from the contracts, and a core that knows no toolkit."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def script(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("contract_script", root / "scripts" / "contract.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_constants_are_those_of_the_schemas(script: ModuleType) -> None:
    stale = [str(file) for file, text in script.generated().items() if file.read_text() != text]
    assert stale == [], "run scripts/contract.py"


def test_error_codes_are_written_nowhere_else(root: Path) -> None:
    sources = (root / "agents" / "jvm" / "src").rglob("*.java")
    again = [file.name for file in sources if file.name != "Contract.java" and '"MCP_UI_' in file.read_text()]
    assert again == []


def test_the_core_knows_no_toolkit(root: Path) -> None:
    core = (root / "agents" / "jvm" / "src" / "uimcp" / "core").glob("*.java")
    toolkits = re.compile(r"\b(javafx\.|java\.awt|javax\.swing|uimcp\.(?!core\b))")
    assert [file.name for file in core if toolkits.search(file.read_text())] == []
