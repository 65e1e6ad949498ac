"""Generates build/requirements.md: every requirement and the tests that cover it."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "build" / "requirements.md"
SHOWN = 2
INTRODUCTION = """\
# Requirements

{core} core requirements and {extra} more, each with the tests that name it; all of them run in `make test`. Written by
`scripts/requirements.py` from `requirements/*.toml` and the marks in `tests/`.
"""


def page() -> str:
    tests = proofs()
    sections, tiers = [], []
    for file in sorted((ROOT / "requirements").glob("*.toml")):
        listed = tomllib.loads(file.read_text(encoding="utf-8"))
        tiers += [entry.get("tier", "CORE") for entry in listed.values()]
        rows = [_row(name, entry, tests.get(name, [])) for name, entry in listed.items()]
        head = f"## {file.stem}\n\n| id | tier | promise | tests |\n|---|---|---|---|"
        sections.append("\n".join([head, *rows, ""]))
    return "\n".join([INTRODUCTION.format(core=tiers.count("CORE"), extra=tiers.count("EXTRA")), *sections])


def _row(name: str, entry: dict[str, str], tests: list[str]) -> str:
    more = f" and {len(tests) - SHOWN} more" if len(tests) > SHOWN else ""
    words = "<br>".join(f"`{test}`" for test in tests[:SHOWN]) + more
    return f"| {name} | {entry.get('tier', 'CORE')} | {entry['text'].replace('|', chr(92) + '|')} | {words} |"


def proofs() -> dict[str, list[str]]:
    """Return the tests by the requirement that marks them or their whole file."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        place = str(file.relative_to(ROOT / "tests"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marks = [name for mark in node.decorator_list for name in _marked(mark)]
                _note(found, marks, f"{place}::{node.name}")
            else:
                _note(found, list(_marked(node)), place)
    return found


def _note(found: dict[str, list[str]], names: list[str], test: str) -> None:
    for name in names:
        found.setdefault(name, []).append(test)


def _marked(tree: ast.AST) -> Iterator[str]:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "covers":
            values = (argument.value for argument in call.args if isinstance(argument, ast.Constant))
            yield from (value for value in values if isinstance(value, str))


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} lists every requirement with its tests")
