"""Figures of the code base that were reached and must not get worse; `python scripts/figures.py` prints all of them."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import figures


@pytest.fixture(scope="module")
def code(root: Path) -> figures.Code:
    return figures.Code(root)


def test_no_modules_import_each_other_in_a_circle(code: figures.Code) -> None:
    assert figures.cycles(code.graph(hidden=True)) == []


def test_the_longest_chain_of_imports_stays_short(code: figures.Code) -> None:
    chain = figures.longest_chain(code.graph(hidden=False))

    assert len(chain) <= 12, chain


def test_imports_inside_functions_become_fewer(code: figures.Code) -> None:
    assert len(code.hidden_imports) <= 25, code.hidden_imports


def test_what_is_imported_lazily_is_known_to_type_checkers_and_layers(code: figures.Code) -> None:
    unknown = {
        name: missing
        for name, found in code.lazy_imports.items()
        if (missing := set(found) - imports_for_types(code.trees[name]))
    }

    assert code.lazy_imports
    assert unknown == {}


def imports_for_types(tree: ast.Module) -> set[tuple[str, str]]:
    """Return (name, "module:name") of everything that is imported for type checkers alone."""
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {
        (alias.asname or alias.name, f"{node.module}:{alias.name}")
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_no_folder_is_a_heap(root: Path) -> None:
    folders = {file.parent for file in (root / "src").rglob("*.py")}

    assert {str(folder): count for folder in folders if (count := len(list(folder.glob("*.py")))) > 25} == {}


def test_a_module_has_a_size_and_readers(code: figures.Code) -> None:
    short, single = figures.short_modules(code), figures.single_importers(code.graph(hidden=True))

    # Shares, not counts: a new feature brings modules, but no larger part of them may be tiny or have one reader.
    assert len(short) <= len(code.files) * 0.04, short
    assert len(single) <= len(code.files) * 0.22, single


def test_no_function_is_longer_than_a_screen(code: figures.Code) -> None:
    assert {name: lines for name, lines in code.functions.items() if lines > 50} == {}


def test_a_circle_and_a_chain_are_found() -> None:
    chain = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset[str]()}

    assert figures.longest_chain(chain) == ["a", "b", "c"]
    assert figures.single_importers(chain) == ["b", "c"]
    assert set(figures.cycles({**chain, "c": frozenset({"a"})})) == {"a", "b", "c"}
