"""Functions and module-level state that ARCHITECTURE.md names by file exist, and no other module keeps state."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.blocks import ROOT

PACKAGE = ROOT / "src/ui_mcp"
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
NAMED = re.compile(r"`([\w/]+(\.\w+)):([\w.]+)`")
BELOW = {
    ".py": PACKAGE,
    ".lua": PACKAGE / "lua_runtime/engine",
    ".ts": ROOT / "web/src",
    ".java": ROOT / "agents/jvm/src/uimcp",
}
"""What the paths of a language are relative to."""
DEFINED = {
    ".lua": r"function (?:\w+[.:])?{0}\(|\[{0}\] = function",
    ".ts": r"(?:function |const |^ +(?:private |async )*){0}(?: = |[(].*[{{]$)",
    ".java": r"^ +(?:\w+ )*[\w<>, ]+ {0}\(.*\{{$",
}
STEP = re.compile(r"(\d+) (?=`|for a )")
CONTAINERS = {"dict", "list", "set", "deque", "defaultdict", "OrderedDict", "Counter", "WeakKeyDictionary", "count"}


@pytest.mark.parametrize("named", sorted({f"{file}:{name}" for file, _, name in NAMED.findall(TEXT)}))
def test_a_function_that_is_named_exists(named: str) -> None:
    assert exists(named)


@pytest.mark.parametrize(
    "named",
    ["chat/gone.py:run", "chat/service.py:Chat.gone", "main.lua:gone", "view/app.ts:gone", "core/Server.java:gone",
     "chat/service.py:post", "main.lua:perform_", "connections.lua:OP.GONE", "view/app.ts:rootVie"],
)  # fmt: skip
def test_a_function_that_is_gone_is_noticed(named: str) -> None:
    assert not exists(named)


def test_steps_are_numbered_as_counted() -> None:
    journeys = TEXT.split("## Journeys")[1].split("##")[0].split("\n- **")[1:]
    for journey in journeys:
        claimed = max(int(number) for number in re.findall(r"\b(\d+) (?:steps|of `ui-mcp)", journey))
        numbers = [int(number) for number in STEP.findall(journey)]
        assert max(numbers) == claimed, journey


def test_all_module_level_state_is_listed() -> None:
    section = TEXT.split("## Module-level state")[1].split("##")[0]
    listed = {f"{file}:{name}" for file, _, name in NAMED.findall(section)}

    assert [one for one in state() if one not in listed] == []


def exists(named: str) -> bool:
    """Return whether the file of a `file:name` defines the name."""
    path, name = named.split(":")
    file = BELOW[Path(path).suffix] / path
    if not file.is_file():
        return False
    if file.suffix == ".py":
        return name in definitions(file)
    return re.search(DEFINED[file.suffix].format(re.escape(name)), file.read_text("utf-8"), re.MULTILINE) is not None


@cache
def definitions(file: Path) -> frozenset[str]:
    """Return functions, methods as `Class.method`, and variables of a module."""
    body = ast.parse(file.read_text("utf-8")).body
    methods = (
        f"{node.name}.{part.name}"
        for node in body
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    functions = (node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset({*methods, *functions, *(name for name, _ in variables(body))})


def variables(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the variables that a module assigns, with their values."""
    for node in body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                yield target.id, node.value


def state() -> Iterator[str]:
    """Yield caches, context variables, and containers that begin empty, as `file:name`."""
    for file in sorted(PACKAGE.rglob("*.py")):
        body = ast.parse(file.read_text("utf-8")).body
        path = file.relative_to(PACKAGE).as_posix()
        yield from (f"{path}:{name}" for name, value in variables(body) if keeps_state(value))
        for node in body:
            if isinstance(node, ast.FunctionDef) and any("cache" in ast.unparse(one) for one in node.decorator_list):
                yield f"{path}:{node.name}"


def keeps_state(value: ast.expr) -> bool:
    """Return whether a value can only be meant to change: a context variable, or a container without content."""
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func).rpartition(".")[2]
        return name == "ContextVar" or (
            name in CONTAINERS and not any(not isinstance(one, ast.Constant) for one in value.args)
        )
    return (isinstance(value, ast.Dict) and not value.keys) or (isinstance(value, ast.List) and not value.elts)
