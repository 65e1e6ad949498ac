"""Where a file failed to load: file, line and the source around it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ui_mcp.errors import ViewdefError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.viewdef_compiler import checked_key, compile_viewdef

LINES_AROUND = 2


@dataclass(frozen=True, slots=True)
class LoadProblem:
    """A file that failed to load, by its path in the app."""

    file: str
    message: str
    line: int | None = None
    source: str = ""

    def json(self) -> JsonObject:
        line = {} if self.line is None else {"line": self.line}
        return {"file": self.file, **line, "message": self.message, **({"source": self.source} if self.source else {})}


def located(app: str, file: str, message: str, files: Mapping[str, bytes]) -> LoadProblem:
    """Return the problem that a message of Lua or of the viewdef compiler describes; pure."""
    found = re.search(rf"(?:^|[\s/])apps/{re.escape(app)}/([^:\n]+):(\d+): (.*)", message, re.DOTALL)
    if found is None:
        lines = re.search(r"\bline (\d+)", message)
        number = int(lines[1]) if lines else None
        return LoadProblem(file, message, number, excerpt(files.get(file), number))
    path, number = found[1], int(found[2])
    return LoadProblem(path, found[3], number, excerpt(files.get(path), number))


def excerpt(content: bytes | None, line: int | None) -> str:
    """Return the lines around one, which is marked; pure."""
    if content is None or line is None:
        return ""
    lines = content.decode("utf-8", "replace").splitlines()
    first, last = max(1, line - LINES_AROUND), min(len(lines), line + LINES_AROUND)
    return "\n".join(f"{'>' if at == line else ' '} {at}| {lines[at - 1]}" for at in range(first, last + 1))


def viewdef_problems(app: str, files: Mapping[str, bytes], paths: list[str]) -> list[LoadProblem]:
    """Compile the viewdefs among `paths` and return what is wrong with them; pure."""
    found = []
    for path in paths:
        if path.startswith("viewdefs/") and path.endswith(".html"):
            type_name, _, namespace = path.rpartition("/")[2].removesuffix(".html").rpartition(".")
            try:
                compile_viewdef(checked_key(type_name, namespace), files[path].decode("utf-8", "replace"))
            except ViewdefError as error:
                found.append(located(app, path, error.message, files))
    return found
