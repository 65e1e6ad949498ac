"""Tables whose last column names the test that proves the row."""

import ast
import re
from functools import cache

from docs.blocks import ROOT

ROW = re.compile(r"^\| (.+) \| `(tests/[^`]+\.py)::(\w+)` \|$", re.MULTILINE)
HEAD_LINES = 2


def proved_rows(table: str) -> list[tuple[str, str, str]]:
    """Return what each row says, and the file and name of its test; every row must have one."""
    found = ROW.findall(table)
    assert len(found) == len(re.findall(r"^\|", table, re.MULTILINE)) - HEAD_LINES, "a row without a test"
    return found


@cache
def names_of_tests(file: str) -> frozenset[str]:
    """Return the names of the tests of a file; none if it does not exist."""
    if not (ROOT / file).is_file():
        return frozenset()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds) and node.name.startswith("test_"))
