"""Modules, files and attributes that the documents name exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.blocks import PAGES, ROOT

PACKAGE = ROOT / "src/ui_mcp"
FOLDERS = (ROOT, ROOT / "src", PACKAGE, PACKAGE / "gateway", PACKAGE / "introspection", ROOT / "web/src")
"""What paths in the documents are relative to."""
ELSEWHERE = frozenset({"apps", "config", "html", "log", "lua", "nlui", "storage", "viewdefs"})
"""Folders of a user's project."""
METHODS = frozenset(
    {
        "notifications/resources/updated", "subscriptions/listen", "tasks/cancel", "tasks/get", "tasks/update",
        "tools/call", "tools/list",
    }
)  # fmt: skip
DOTTED = re.compile(r"\bui_mcp((?:\.\w+)+)")
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[a-z]\w*(?:/[\w*]+)+(?:\.\w+)*")
TABLE = re.compile(r"^\| module \|.*\n\|.*\n((?:\|.*\n)+)", re.MULTILINE)
PLACEHOLDER = re.compile(r"/(?:\w+_)?(?:[A-Z]+|x)(?:_\w+)?\.\w+$")
"""`NAME.py`, `x_store.py`, `area_x.py`: the reader chooses the name, so only its folder has to exist."""
DOCUMENTS = [page for page in PAGES if page.name != "CHANGELOG.md" and PACKAGE not in page.parents]


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_module_file_and_attribute_that_a_document_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")

    assert [name for name in paths_in(text) if not exists(name)] == []
    assert [name for name in modules_in_tables(text) if name not in modules()] == []


@pytest.mark.parametrize(
    "name", ["storage/gone", "gone/face.py", "gone/NAME.py", "storage/database.Gone", "storage/database.Path"]
)
def test_a_name_that_is_gone_is_noticed(name: str) -> None:
    assert not exists(name)


def paths_in(text: str) -> Iterator[str]:
    """Return paths in backquotes as written, and dotted names as paths."""
    for dotted in DOTTED.findall(text):
        yield "src/ui_mcp" + dotted.replace(".", "/")
    for span in SPAN.findall(text):
        if PATH.fullmatch(span) and span not in METHODS and span.split("/")[0] not in ELSEWHERE:
            yield span


def modules_in_tables(text: str) -> Iterator[str]:
    """Return the bare names in the first column of tables of modules."""
    for table in TABLE.findall(text):
        for row in table.splitlines():
            yield from (name for name in SPAN.findall(row.split("|")[1]) if "/" not in name)


def modules() -> set[str]:
    """Return the names of all modules, of the program and of the page."""
    found = (*PACKAGE.rglob("*.py"), *(ROOT / "web/src").rglob("*.ts"))
    return {path.stem for path in found}


def exists(name: str) -> bool:
    """Say whether a file, a folder, a module or an attribute of a module is there."""
    name = PLACEHOLDER.sub("", name)
    attribute = re.fullmatch(r"(.+)[./](\w+)", name)
    return any(
        (attribute is not None and attribute[2] in defined_in(folder / f"{attribute[1]}.py"))
        or any(any(folder.glob(name + suffix)) for suffix in ("", ".py", ".ts"))
        for folder in FOLDERS
    )


def defined_in(file: Path) -> set[str]:
    """Return the classes, functions and constants of a module."""
    body = ast.parse(file.read_text("utf-8")).body if file.is_file() else []
    names = {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    assigned = (target for node in body if isinstance(node, ast.Assign) for target in node.targets)
    return names | {target.id for target in assigned if isinstance(target, ast.Name)}
