"""Finds the files and lines behind an element: its viewdef, and the Lua method or field that it is bound to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.audit_sources import LuaSource
from ui_mcp.workspace import Workspace

MAX_LUA = 1_000_000
_CALLED = re.compile(r"([A-Za-z_]\w*)\(")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; `what` is the attribute, method or field that is there."""

    file: str
    line: int
    what: str

    def json(self) -> JsonObject:
        return {"file": self.file, "line": self.line, "what": self.what}


def places_of(
    workspace: Workspace, key: str | None, viewdef: Path | None, bindings: Sequence[JsonObject]
) -> list[Place]:
    """Return where the bindings of an element are written, and where Lua has what they name."""
    if key is None:
        return []
    found = list(_in_viewdef(workspace, viewdef, bindings)) if viewdef is not None else []
    sources = [(name, LuaSource(text)) for name, text in _lua_files(workspace, viewdef)]
    type_name = key.rpartition(".")[0]
    named = [place for binding in bindings for place in in_lua(sources, type_name, str(binding["path"]))]
    return [*found, *dict.fromkeys(named)]


def in_lua(sources: Sequence[tuple[str, LuaSource]], type_name: str, path: str) -> Iterator[Place]:
    """Yield the definition of each method that a path calls, else of the field it ends with; pure."""
    called = _CALLED.findall(path)
    for name in called:
        methods = [(file, one) for file, source in sources for one in source.methods if one.name == name]
        # Other types may have a method of this name; the path may also have left the viewdef's own type.
        own = [(file, one) for file, one in methods if one.owner.rpartition(".")[2] == type_name.rpartition(".")[2]]
        for file, method in (own or methods)[:1]:
            yield Place(file, method.line, f"{method.owner}:{name}")
    names = _NAME.findall(path.partition("?")[0])
    if not called and names:
        yield from _field(sources, type_name, names[-1])


def _field(sources: Sequence[tuple[str, LuaSource]], type_name: str, name: str) -> Iterator[Place]:
    assigned = re.compile(rf"\b{re.escape(name)}[ \t]*=(?!=)")
    declaring = [(file, source, line) for file, source in sources for one, line in source.types if one == type_name]
    for file, source, declared in declaring[:1]:
        lines = [source.line_of(found.start()) for found in assigned.finditer(source.code)]
        line = next((line for line in lines if line >= declared), declared)
        yield Place(file, line, f"{type_name}.{name}")


def _in_viewdef(workspace: Workspace, file: Path, bindings: Sequence[JsonObject]) -> Iterator[Place]:
    text, name = _read(file), _name(workspace, file)
    for binding in bindings:
        attribute, path = str(binding["attribute"]), str(binding["path"])
        found = re.search(rf"{re.escape(attribute)}\s*=\s*[\"']\s*{re.escape(path)}", text)
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        yield Place(name, line, f'{attribute}="{path}"')
    if not bindings:
        yield Place(name, 1, file.stem)


def _lua_files(workspace: Workspace, viewdef: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the Lua files of the viewdef's app, then those of all apps' common directory."""
    app = _app_of(workspace, viewdef) if viewdef is not None else None
    for folder in ([app] if app is not None else []) + [workspace.lua]:
        for file in sorted(folder.rglob("*.lua")):
            if file.is_file() and file.stat().st_size <= MAX_LUA:
                yield _name(workspace, file), _read(file)


def _app_of(workspace: Workspace, viewdef: Path) -> Path | None:
    # The viewdef may be reached by a link in viewdefs/; its app is where the file really is.
    for file in (viewdef, viewdef.resolve()):
        if file.is_relative_to(workspace.apps):
            return workspace.apps / file.relative_to(workspace.apps).parts[0]
    return None


def _name(workspace: Workspace, file: Path) -> str:
    return file.relative_to(workspace.base).as_posix() if file.is_relative_to(workspace.base) else file.name


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
