"""Prints the figures of the code base: size, imports, functions, comments, and the steps of the journeys.

`python scripts/figures.py [DIRECTORY]` measures this checkout or another one; `--list FIGURE` names what was counted.
"""

import argparse
import ast
import re
import statistics
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTENSIONS = ("backends", "cli", "models", "resources", "steps", "tools")
"""Packages in which a short module is one kind of UI, command, model vendor, resource, step of the tour or tool."""
SHORT = 60
Function = ast.FunctionDef | ast.AsyncFunctionDef
Body = Function | ast.ClassDef | ast.Module
Graph = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Code:
    """The modules below `src`."""

    root: Path

    @cached_property
    def files(self) -> dict[str, Path]:
        source = self.root / "src"
        return {_name(file.relative_to(source)): file for file in sorted(source.rglob("*.py"))}

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in self.files.items()}

    @cached_property
    def lines(self) -> dict[str, int]:
        return {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in self.files.items()}

    @cached_property
    def hidden_imports(self) -> list[str]:
        """Every import statement inside a function, counted once however deep."""
        return [
            f"{name}:{line} {text}"
            for name, tree in self.trees.items()
            for line, text in sorted(
                {
                    (node.lineno, ast.unparse(node))
                    for function in ast.walk(tree)
                    if isinstance(function, Function)
                    for node in ast.walk(function)
                    if isinstance(node, ast.Import | ast.ImportFrom)
                }
            )
        ]

    @cached_property
    def lazy_imports(self) -> dict[str, list[tuple[str, str]]]:
        """What each module imports on first call, by `discovery.lazy`: names with their targets."""
        found = {name: list(_lazy(tree)) for name, tree in self.trees.items()}
        return {name: lazy for name, lazy in found.items() if lazy}

    @cached_property
    def functions(self) -> dict[str, int]:
        """Lines of every function, without decorators."""
        return {
            f"{name}:{node.name}:{node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, Function)
        }

    @cached_property
    def notes(self) -> int:
        """Texts under a constant or a field, which say what a comment would."""
        bodies = (node.body for tree in self.trees.values() for node in ast.walk(tree) if isinstance(node, Body))
        return sum(_is_note(name, text) for body in bodies for name, text in pairwise(body))

    @cached_property
    def comments(self) -> int:
        """Lines with a comment that is for people, not for a tool."""
        return sum(_comments(file) for file in self.files.values())

    def graph(self, *, hidden: bool) -> Graph:
        """Return what each module imports of ours; with `hidden`, inside functions too."""
        return {name: frozenset(self._imports(name, tree, hidden=hidden)) for name, tree in self.trees.items()}

    def _imports(self, name: str, tree: ast.Module, *, hidden: bool) -> Iterator[str]:
        for node in ast.walk(tree) if hidden else _top_level(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.files)
            elif isinstance(node, ast.ImportFrom) and node.module in self.files:
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                found = inside & self.files.keys()
                yield from found
                if found != inside and node.module != name:
                    yield node.module


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _top_level(tree: ast.Module) -> set[ast.stmt]:
    """Return the statements that run when a module is imported, apart from those for type checkers."""
    found: set[ast.stmt] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        found.add(node)
        if isinstance(node, ast.If | ast.Try | ast.With):
            waiting += [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
    return found


def _lazy(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (name, "module:name") of every `name = lazy("module:name")`."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("lazy"), [ast.Constant(str(target))])):
                yield name, target


def _is_note(name: ast.stmt, text: ast.stmt) -> bool:
    return isinstance(name, ast.Assign | ast.AnnAssign) and ast.unparse(text)[:1] in {"'", '"'}


def _comments(file: Path) -> int:
    with file.open("rb") as source:
        found = [token for token in tokenize.tokenize(source.readline) if token.type == tokenize.COMMENT]
    # A comment that silences a linter counts if it says why.
    return sum(re.match(r"# ?(noqa: [A-Z0-9, ]+|fmt: \w+|type: ignore\S*)$", token.string) is None for token in found)


def cycles(graph: Graph) -> list[str]:
    """Return the modules of one import cycle; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def longest_chain(graph: Graph) -> list[str]:
    """Return the longest chain of modules that import each other."""
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(graph).static_order():
        chains[name] = [name, *max((chains[one] for one in graph.get(name, ())), key=len, default=[])]
    return max(chains.values(), key=len)


def single_importers(graph: Graph) -> list[str]:
    """Return the modules that exactly one other module imports; `__init__` files of packages do not count."""
    importers: dict[str, set[str]] = {name: set() for name in graph}
    for name, imported in graph.items():
        for one in imported:
            importers[one].add(name)
    packages = {name.rpartition(".")[0] for name in graph}
    return sorted(name for name, found in importers.items() if len(found) == 1 and name not in packages)


def journeys(root: Path) -> dict[str, str]:
    """Return the number of steps that ARCHITECTURE.md gives for each journey."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    found = re.findall(r"^- \*\*(.+?)\*\*, (\d+) steps(?: of `ui-mcp mcp` and (\d+))?", text, re.MULTILINE)
    return {name.replace("`", ""): f"{steps}/{more}" if more else steps for name, steps, more in found}


def short_modules(code: Code) -> list[str]:
    packages = {name.rpartition(".")[0] for name in code.files}
    return [
        name
        for name, lines in code.lines.items()
        if lines < SHORT and name not in packages and not set(name.split(".")) & set(EXTENSIONS)
    ]


def figures(root: Path) -> dict[str, tuple[str, list[str]]]:
    """Return each figure with what was counted."""
    code = Code(root)
    graph, everything = code.graph(hidden=False), code.graph(hidden=True)
    chain, single, short = longest_chain(graph), single_importers(everything), short_modules(code)
    folders: dict[str, int] = {}
    for file in code.files.values():
        folders[str(file.parent.relative_to(root))] = folders.get(str(file.parent.relative_to(root)), 0) + 1
    sizes = sorted(code.functions.values())
    total = sum(code.lines.values())
    longest = sorted(code.functions, key=lambda name: -code.functions[name])[:20]
    return {
        "modules": (str(len(code.files)), list(code.files)),
        "lines": (str(total), [f"{lines} {name}" for name, lines in code.lines.items()]),
        "largest folder": (str(max(folders.values())), [f"{count} {name}" for name, count in folders.items()]),
        "import cycles, hidden counted": (str(int(bool(cycles(everything)))), cycles(everything)),
        "longest import chain": (str(len(chain)), chain),
        "imports inside functions": (str(len(code.hidden_imports)), code.hidden_imports),
        "lazy imports": (
            str(sum(map(len, code.lazy_imports.values()))),
            [f"{name} {target}" for name, found in code.lazy_imports.items() for _, target in found],
        ),
        "modules imported by exactly one": (str(len(single)), single),
        f"modules under {SHORT} lines": (str(len(short)), short),
        "function lines: median, p95, maximum": (
            f"{statistics.median(sizes):.0f}, {sizes[len(sizes) * 95 // 100]}, {sizes[-1]}",
            [f"{code.functions[name]} {name}" for name in longest],
        ),
        "comments per 100 lines": (f"{100 * code.comments / total:.1f}", []),
        "comments and notes under names per 100 lines": (f"{100 * (code.comments + code.notes) / total:.1f}", []),
        **{f"steps of: {name}": (steps, []) for name, steps in journeys(root).items()},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", default=ROOT, type=Path, help="a checkout (default: this one)")
    parser.add_argument("--list", metavar="FIGURE", help="name what was counted for figures that contain this text")
    options = parser.parse_args()
    for name, (figure, counted) in figures(options.directory.resolve()).items():
        if options.list is None or options.list in name:
            print(f"{name:56}{figure}")
            if options.list is not None:
                print(*(f"  {one}" for one in counted), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
