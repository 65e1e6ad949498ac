"""The files of one app: where they may be, what they contain, and kept copies of their contents."""

import difflib
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.files import PRIVATE, LinkError, require_inside, write_atomic
from ui_mcp.workspace import Workspace, make_own

MAX_BYTES = 64 * 1024 * 1024
MAX_FILES = 2000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_IGNORED = re.compile(r"\..*|.*~|.*\.fossil")
"""Names that are left out: hidden files, editors' copies and the stores of another program."""
_UNPORTABLE = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]|[. ]$')
"""What a name may not contain on every system, such as the colon of Windows' alternate streams."""


def app_folder(workspace: Workspace, app: str) -> Path:
    """Return the directory of an app.

    Raises:
        InvalidArgumentsError: the name cannot be that of an app.
        NotFoundError: there is no such app.
        RefusedError: its directory leads out of the project.
    """
    folder = place_of(workspace, app)
    if not folder.is_dir():
        raise NotFoundError(f"App not found: {app}; there is no apps/{app}")
    return folder


def place_of(workspace: Workspace, app: str) -> Path:
    """Return where the directory of an app is, or would be, with links resolved.

    Raises:
        InvalidArgumentsError: the name cannot be that of an app, or differs from another app's only in case.
        RefusedError: its directory leads out of the project.
    """
    if not _NAME.fullmatch(app):
        raise InvalidArgumentsError(f"An app's name has letters, digits, - and _ only: {app!r}")
    _require_case(workspace.apps, app)
    folder = workspace.apps / app
    if not workspace.contains(folder):
        raise RefusedError(f"apps/{app} is a link that leaves the project")
    if folder.exists() and not folder.is_dir():
        raise RefusedError(f"apps/{app} is a file, not the directory of an app")
    return folder.resolve()


def require_path(folder: Path, path: str) -> None:
    """Check that `path` names a file of the app in `folder`, and nothing outside of it.

    Raises:
        RefusedError: it is no plain path, differs from an existing one only in case, or a link leads elsewhere.
    """
    if not is_plain(path) or len(path) > 500 or any(map(_UNPORTABLE.search, path.split("/"))):
        raise RefusedError(
            f"Not the path of an app's file: {path!r}\nGive it relative to apps/{folder.name}/, such as app.lua."
        )
    at = folder
    for part in path.split("/"):
        _require_case(at, part)
        at = at / part
        if at.is_symlink():
            raise RefusedError(f"{path} is behind a link, which is not followed")
    if at.is_dir():
        raise RefusedError(f"{path} is a directory")
    if any(parent.is_file() for parent in at.parents if parent != folder and parent.is_relative_to(folder)):
        raise RefusedError(f"{path} is below a file")


def is_plain(path: str) -> bool:
    """Return whether a path is relative and leads neither upwards nor to what is left out; pure."""
    parts = path.split("/")
    return not any(not part or _IGNORED.fullmatch(part) or "\\" in part or "\0" in part for part in parts)


def _require_case(folder: Path, name: str) -> None:
    """Refuse a second spelling: where case does not count, it would be the same file."""
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return
    if name not in names and (other := next((one for one in names if one.casefold() == name.casefold()), None)):
        raise RefusedError(f"{name} differs from {other} only in case\nName it {other}.")


def present_files(folder: Path) -> dict[str, bytes]:
    """Return the contents of an app's files; links are left out.

    Raises:
        RefusedError: there are too many, or they are too large.
    """
    found: dict[str, bytes] = {}
    size = 0
    for path in _walk(folder):
        content = (folder / path).read_bytes()
        size += len(content)
        found[path] = content
        if size > MAX_BYTES or len(found) > MAX_FILES:
            raise RefusedError(
                f"apps/{folder.name} is too large to keep versions of: at most {MAX_FILES} files and 64 MiB\n"
                "Keep data in storage/ instead of the app's directory."
            )
    return found


def _walk(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _IGNORED.fullmatch(name))
        for name in sorted(files):
            file = Path(place) / name
            if not _IGNORED.fullmatch(name) and not file.is_symlink() and file.is_file():
                yield file.relative_to(folder).as_posix()


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: sha256(content).hexdigest() for path, content in sorted(files.items())}


def version_of(files: Mapping[str, bytes]) -> str:
    """Return a short name of these contents: the same for the same files, wherever they came from; pure."""
    whole = "".join(f"{path}\0{digest}\n" for path, digest in digests(files).items())
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def file_diff(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    """Return the unified difference of one file, without line ends; pure."""
    if old == new:
        return []
    names = (f"a/{path}" if old is not None else "/dev/null", f"b/{path}" if new is not None else "/dev/null")
    try:
        before, after = (old or b"").decode().splitlines(), (new or b"").decode().splitlines()
    except UnicodeDecodeError:
        return [f"Binary files {names[0]} and {names[1]} differ"]
    return list(difflib.unified_diff(before, after, *names, lineterm=""))


class KeptContents:
    """Contents by digest in a folder of `.ui-mcp/`; each is stored once."""

    def __init__(self, workspace: Workspace, *place: str) -> None:
        self._workspace = workspace
        self.folder = workspace.own.joinpath(*place)

    def put(self, content: bytes) -> str:
        """Store a content and return its digest."""
        digest = sha256(content).hexdigest()
        blob = self._blob(digest)
        if not blob.exists():
            write_atomic(blob, zlib.compress(content), mode=PRIVATE)
        return digest

    def get(self, digest: str) -> bytes:
        """Return a content.

        Raises:
            NotFoundError: it is missing or damaged.
        """
        try:
            content = zlib.decompressobj().decompress(self._blob(digest).read_bytes(), MAX_BYTES)
        except (OSError, zlib.error) as error:
            raise NotFoundError(f"A file of this version is missing or damaged: {digest[:12]}") from error
        if sha256(content).hexdigest() != digest:
            raise NotFoundError(f"A file of this version is missing or damaged: {digest[:12]}")
        return content

    def keep_only(self, digests: set[str]) -> None:
        """Delete all other contents."""
        for blob in self._blob("").iterdir() if self._blob("").is_dir() else ():
            if blob.name not in digests:
                blob.unlink(missing_ok=True)

    def make(self) -> None:
        """Make `.ui-mcp/` ready; a cloned project must not lead us elsewhere by a link.

        Raises:
            RefusedError: a link is in the way.
        """
        make_own(self._workspace)
        for folder in (self.folder.parent, self.folder, self._blob("")):
            if folder.is_symlink():
                raise RefusedError(f"{folder} is a link; remove it")

    def _blob(self, digest: str) -> Path:
        return self.folder / "files" / digest


def require_no_link(folder: Path, path: str) -> None:
    """Check again, right before writing, that no link leads out of the app.

    Raises:
        LinkError: one does.
    """
    parent = next(parent for parent in (folder / path).parents if parent.exists())
    if parent.is_relative_to(folder):
        require_inside(folder, parent)
    elif not folder.is_relative_to(parent):
        raise LinkError(parent)
