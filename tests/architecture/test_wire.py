"""The constants of the wire have one source, from which those of all languages are generated."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from ui_mcp import wire
from ui_mcp.lua_runtime.interface import ERRORS


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


def test_the_engine_has_one_function_for_each_operation(script: ModuleType) -> None:
    sources = "\n".join(file.read_text() for file in script.LUA.parent.glob("*.lua"))
    assert sorted(re.findall(r"^E\.ops\[OP\.(\w+)\] = function", sources, re.MULTILINE)) == sorted(wire.Op.__members__)


def test_the_engine_writes_no_fault_code_or_message_type_by_hand(script: ModuleType) -> None:
    by_hand = re.compile(r"""code ==? "|_fault\("|raise\("|"type":"\w|host\.emit\("|handlers\.\w|\bops\.\w""")
    found = [
        f"{file.name}: {line.strip()}"
        for file in script.LUA.parent.glob("*.lua")
        for line in file.read_text().splitlines()
        if by_hand.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("folder", ["lua_runtime", "ui/sessions", "testing"])
def test_the_server_writes_no_fault_code_or_message_type_by_hand(root: Path, folder: str) -> None:
    by_hand = re.compile(
        r""""type": ?"\w|Op\("|"(lua-error|lua-syntax|not-found|load_recovered|session_ended|looked)\b"""
    )
    found = [
        f"{file.name}: {line.strip()}"
        for file in (root / "src" / "ui_mcp" / folder).rglob("*.py")
        for line in file.read_text().splitlines()
        if by_hand.search(line)
    ]
    assert found == []


def test_each_fault_becomes_the_error_that_the_contract_names(script: ModuleType) -> None:
    faults = json.loads(script.CONTRACT.read_text())["faults"]
    named = {fault["code"]: fault["error"] for fault in faults if "error" in fault}
    assert {code: error.__name__ for code, error in ERRORS.items()} == named
    assert {error.code: error.__name__ for error in ERRORS.values()} == named
