"""What a set of changes makes of an app's files, and where they fail to load; nothing is read or written here."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from ui_mcp.errors import InvalidArgumentsError, ViewdefError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.editing.journal import Edit
from ui_mcp.ui.viewdef_compiler import checked_key, compile_viewdef

MAX_FILE_BYTES = 4 * 1024 * 1024
NEW_MODE = 0o644


@dataclass(frozen=True, slots=True)
class FileChange:
    """A whole file (`text`), one place in a file (`old` becomes `new`), or its deletion."""

    path: str
    text: str | None = None
    old: str | None = None
    new: str | None = None
    delete: bool = False


def changed_files(files: Mapping[str, bytes], changes: Iterable[FileChange]) -> dict[str, bytes | None]:
    """Apply changes in order and return the new content of each file that they name; None: it is deleted.

    Raises:
        InvalidArgumentsError: a change is ambiguous, or its place is not found.
    """
    found: dict[str, bytes | None] = {}
    for change in changes:
        at = found[change.path] if change.path in found else files.get(change.path)
        found[change.path] = _changed(at, change)
    folded = [path.casefold() for path in found]
    if len(set(folded)) < len(folded):
        raise InvalidArgumentsError("Two changes name files that differ only in case")
    return found


def _changed(content: bytes | None, change: FileChange) -> bytes | None:
    kinds = (change.text is not None) + (change.old is not None or change.new is not None) + change.delete
    if kinds != 1:
        raise InvalidArgumentsError(f"{change.path}: give either text, or old and new, or delete")
    if change.text is not None:
        return _limited(change.path, change.text.encode())
    if content is None:
        raise InvalidArgumentsError(f"{change.path}: there is no such file")
    return None if change.delete else _replaced(content, change)


def _replaced(content: bytes, change: FileChange) -> bytes:
    if not change.old or change.new is None:
        raise InvalidArgumentsError(f"{change.path}: give old, which is not empty, and new")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentsError(f"{change.path} is not a text file in UTF-8") from error
    old, new = change.old, change.new
    if old not in text and "\r\n" in text:  # the agent saw, and writes, plain line ends
        old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
    count = text.count(old)
    if count != 1:
        raise InvalidArgumentsError(_not_once(change.path, text, old, count))
    return _limited(change.path, text.replace(old, new).encode())


def _not_once(path: str, text: str, old: str, count: int) -> str:
    lines = text.splitlines()
    if count:
        places = [text.count("\n", 0, found.start()) + 1 for found in re.finditer(re.escape(old), text)][:5]
        return f"{path}: old occurs {count} times, at lines {', '.join(map(str, places))}\nGive more lines around it."
    first = next((line for line in old.splitlines() if line.strip()), old)
    near = difflib.get_close_matches(first.strip(), [line.strip() for line in lines], n=1, cutoff=0.4)
    number = next((at for at, line in enumerate(lines, 1) if near and line.strip() == near[0]), 0)
    shown = "\n".join(lines[number - 1 : number + max(2, old.count("\n"))]) if number else ""
    hint = f"\nThe nearest text is at line {number}:\n{shown}" if number else "\nRead the file with ui_read."
    return f"{path}: old is not in this file{hint}"


def _limited(path: str, content: bytes) -> bytes:
    if len(content) > MAX_FILE_BYTES:
        raise InvalidArgumentsError(f"{path} would be larger than {MAX_FILE_BYTES // 1024 // 1024} MiB")
    return content


def edit_of(
    files: Mapping[str, bytes],
    wanted: Mapping[str, bytes | None],
    *,
    modes: Mapping[str, int],
    folders: frozenset[str],
    versions: tuple[str, str],
    findings: tuple[str, ...],
) -> tuple[Edit, dict[str, bytes]]:
    """Return the edit that makes `files` what is wanted, without files that stay the same, and contents by digest.

    `modes` are those of the present files, `folders` the present directories below and with the app's own, `.`.
    """
    changed = {path: content for path, content in wanted.items() if files.get(path) != content}
    contents = {
        sha256(content).hexdigest(): content for content in (*files.values(), *wanted.values()) if content is not None
    }

    def state(content: bytes | None, path: str) -> tuple[str, int] | None:
        return None if content is None else (sha256(content).hexdigest(), modes.get(path, NEW_MODE))

    parents = {
        str(parent)
        for path, content in changed.items()
        if content is not None
        for parent in PurePosixPath(path).parents
    }
    made = sorted(parents - folders, key=lambda folder: (folder == ".", -folder.count("/"), folder))
    edit = Edit(
        {path: state(files.get(path), path) for path in changed},
        {path: state(content, path) for path, content in changed.items()},
        *versions,
        tuple(made),
        findings,
    )
    return edit, contents


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
