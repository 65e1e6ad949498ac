"""`ui://{path}`: guides and other files of the project's `resources/` folder, or else of the bundled one."""

from collections.abc import Iterator, Sequence
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import quote, unquote

from anyio.to_thread import run_sync

from ui_mcp.errors import RefusedError, ResourceNotFoundError
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Unconfigured
from ui_mcp.workspace import BUNDLE

CATCH_ALL = True
"""This family matches any path, so it is tried last."""
SCHEME = "ui://"
BUNDLED = BUNDLE / "base" / "resources"
RESERVED = frozenset({"state", "variables", "events", "app", "chat"})
"""First path segments of live resources; files of that name are not served."""
MAX_BYTES = 8 * 1024 * 1024
MAX_LISTED = 500
"""Further files can be read, but are not listed, to save the agent's context."""
CACHE_MS = 60_000
"""How long clients may cache a file."""

GUIDES = {
    "reference": ("Platform reference", "Start here: how the platform works, its files, tools and rules, in one page."),
    "viewdefs": ("Viewdef guide", "HTML templates: every ui-* attribute, path syntax, lists, namespaces, components."),
    "lua": ("Lua guide", "Lua API: prototypes, session, mcp, ui, timers, hot loading, permissions and limits."),
    "mcp": ("Agent guide", "Building and operating an app as an agent: the workflow, the event loop, the checks."),
}


class Files:
    """Serves files below `resources/` and nothing outside it, in every state of the server."""

    def __init__(self, host: UiServer) -> None:
        self._host = host

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the guides, then the other files by name."""
        guides = [
            Resource(f"{SCHEME}{name}", name, about, "text/markdown", title) for name, (title, about) in GUIDES.items()
        ]
        return guides + await run_sync(lambda: list(_listed(self._folders())))

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        about = "A file of the resources directory; `.md` may be left out. Example: ui://patterns/form.md"
        return [ResourceTemplate("ui://{path}", "resource file", about, title="Resource files")]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read one file.

        Raises:
            ResourceNotFoundError: there is no such file, or the name belongs to a live resource.
            RefusedError: the path leaves `resources/`, or the file is too large.
        """
        path = unquote(uri.removeprefix(SCHEME))
        if not uri.startswith(SCHEME) or not path or path.split("/")[0] in RESERVED:
            raise ResourceNotFoundError(uri)
        return [await run_sync(_read, uri, path, self._folders())]

    def _folders(self) -> list[Path]:
        state = self._host.state
        return [BUNDLED] if isinstance(state, Unconfigured) else [state.workspace.resources, BUNDLED]


def provide(host: UiServer, announcements: Announcements) -> Files:
    return Files(host)


def _listed(folders: Sequence[Path]) -> Iterator[Resource]:
    seen = {f"{name}.md" for name in GUIDES}
    for folder in folders:
        for file in sorted(folder.rglob("*")) if folder.is_dir() else []:
            name = file.relative_to(folder).as_posix()
            if name in seen or len(seen) > MAX_LISTED or not _servable(file, folder, name):
                continue
            seen.add(name)
            about = f"resources/{name}"
            yield Resource(f"{SCHEME}{quote(name)}", name, about, mime_type(file), size=file.stat().st_size)


def _servable(file: Path, folder: Path, name: str) -> bool:
    hidden = any(part.startswith(".") for part in name.split("/"))
    return not hidden and name.split("/", maxsplit=1)[0] not in RESERVED and _inside(file, folder) and file.is_file()


def _read(uri: str, path: str, folders: Sequence[Path]) -> ResourceContent:
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
