"""Files of the project's `resources/` folder, or else of the bundled one; nothing outside is read."""

from collections.abc import Iterator, Sequence
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import quote

from ui_mcp.errors import RefusedError, ResourceNotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.resources import Resource, ResourceContent
from ui_mcp.workspace import BUNDLE

SCHEME = "ui://"
BUNDLED = BUNDLE / "base" / "resources"
RESERVED = frozenset({"state", "variables", "events", "app", "chat"})
"""First path segments of live resources; files of that name are not served."""
MAX_BYTES = 8 * 1024 * 1024
MAX_LISTED = 500
"""Further files can be read, but are not listed, to save the agent's context."""
CACHE_MS = 60_000
"""How long clients may cache a file."""


def listed_files(folders: Sequence[Path], known: set[str]) -> Iterator[Resource]:
    """Yield the files by name, without the `known` ones."""
    seen = set(known)
    for folder in folders:
        for file in sorted(folder.rglob("*")) if folder.is_dir() else []:
            name = file.relative_to(folder).as_posix()
            if name in seen or len(seen) > MAX_LISTED or not _servable(file, folder, name):
                continue
            seen.add(name)
            about = described(file) or f"resources/{name}"
            yield Resource(f"{SCHEME}{quote(name)}", name, about, mime_type(file), size=file.stat().st_size)


def described(file: Path) -> str:
    """Return the `description:` in a guide's front matter, or nothing."""
    if file.suffix != ".md":
        return ""
    with file.open("rb") as stream:
        head = stream.read(600).decode("utf-8", "replace").splitlines()
    if not head or head[0] != "---":
        return ""
    lines = (line.partition(":") for line in head[1 : head.index("---", 1) if "---" in head[1:] else 1])
    return next((text.strip() for key, _, text in lines if key == "description"), "")


def folder_entries(path: str, folders: Sequence[Path]) -> list[JsonObject] | None:
    """Return name, kind and size of everything in a folder, or None if there is no such folder.

    Raises:
        RefusedError: the path leaves `resources/`.
    """
    if path:
        _require_plain(path)
    found = [folder / path for folder in folders if _is_folder(folder / path, folder)]
    if not found:
        return None
    entries: dict[str, JsonObject] = {}
    for folder in reversed(found):  # the project's files hide bundled ones
        for file in folder.iterdir():
            if not file.name.startswith(".") and _inside(file, folder):
                size = 0 if file.is_dir() else file.stat().st_size
                entries[file.name] = {"name": file.name, "is_dir": file.is_dir(), "size": size}
    return [entries[name] for name in sorted(entries)]


def _is_folder(path: Path, folder: Path) -> bool:
    try:
        return path.is_dir() and _inside(path, folder)
    except OSError:  # a name too long for any file
        return False


def _servable(file: Path, folder: Path, name: str) -> bool:
    hidden = any(part.startswith(".") for part in name.split("/"))
    return not hidden and name.split("/", maxsplit=1)[0] not in RESERVED and _inside(file, folder) and file.is_file()


def read_file(uri: str, path: str, folders: Sequence[Path]) -> ResourceContent:
    """Read the file at `path`, of which `.md` may be left out; `uri` is its name in errors.

    Raises:
        ResourceNotFoundError: there is no such file, or the name belongs to a live resource.
        RefusedError: the path leaves `resources/`, or the file is too large.
    """
    if not path or path.split("/", maxsplit=1)[0] in RESERVED:
        raise ResourceNotFoundError(uri)
    _require_plain(path)
    for folder in folders:
        for file in (folder / f"{path}.md", folder / path):
            if _exists(file):
                if not _inside(file, folder):
                    raise RefusedError(f"{uri} is a link that leaves resources/", uri=uri)
                return _content(uri, file)
    raise ResourceNotFoundError(uri)


def _exists(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # a name too long for any file
        return False


def _require_plain(path: str) -> None:
    parts = path.split("/")
    if "\\" in path or "\0" in path or ":" in path or any(part in ("", ".", "..") for part in parts):
        raise RefusedError(f"Not a path inside resources/: {path!r}", path=path)
    if any(part.startswith(".") for part in parts):
        raise RefusedError(f"Hidden files are not served: {path!r}", path=path)


def _inside(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


def _content(uri: str, file: Path) -> ResourceContent:
    if file.stat().st_size > MAX_BYTES:
        raise RefusedError(f"{uri} is larger than {MAX_BYTES // 1024 // 1024} MB", uri=uri)
    body, kind = file.read_bytes(), mime_type(file)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        binary = "application/octet-stream" if kind.startswith("text/") else kind
        return ResourceContent(uri, binary, body, CACHE_MS)
    return ResourceContent(uri, kind, text if _textual(kind) else body, CACHE_MS)


def mime_type(file: Path) -> str:
    """Return a file's MIME type by its extension; plain text if it is unknown."""
    if file.suffix == ".md":
        return "text/markdown"
    return guess_type(file.name)[0] or "text/plain"


def _textual(kind: str) -> bool:
    return kind.startswith("text/") or kind in ("application/json", "application/javascript", "image/svg+xml")
