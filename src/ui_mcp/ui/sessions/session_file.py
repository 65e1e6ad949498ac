"""A session in one file: its state and the code of its apps, to continue it elsewhere, report a fault or test with it.

A zip archive with `session.json`, `state.json` (records) and the files below `apps/`.
"""

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import InvalidArgumentsError, RefusedError
from ui_mcp.files import write_atomic
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.ui.app_files import MAX_BYTES, MAX_FILES, place_of, present_files, require_path
from ui_mcp.workspace import Workspace

FORMAT = 1
# RuntimeError: encrypted; NotImplementedError: a compression that zipfile does not know.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class SessionFile:
    """What a file holds."""

    displayed: str
    records: str
    """The state as a JSON list."""
    files: Mapping[str, bytes]
    """Path below apps/ → content."""

    def unpack(self, workspace: Workspace) -> list[str]:
        """Write the apps into a project; return their names.

        Raises:
            RefusedError: an app of the same name has other contents, or a path is not allowed.
        """
        apps: dict[str, dict[str, bytes]] = {}
        for name, content in self.files.items():
            app, _, path = name.partition("/")
            apps.setdefault(app, {})[path] = content
        folders = {app: place_of(workspace, app) for app in apps}
        for app, folder in folders.items():  # all checks first: a refused file leaves nothing behind
            if folder.is_dir() and (there := present_files(folder)) and there != apps[app]:
                raise RefusedError(f"apps/{app} exists and differs\nMove it away, or import into another directory.")
            for path in apps[app]:
                require_path(folder, path)
        for app, folder in folders.items():
            folder.mkdir(parents=True, exist_ok=True)
            for path, content in apps[app].items():
                write_atomic(folder / path, content)
        return sorted(apps)


def write(file: Path, workspace: Workspace, records: str, displayed: str) -> int:
    """Write a session and the code of all apps of a project; return the number of files."""
    apps = (
        sorted(folder.name for folder in workspace.apps.iterdir() if folder.is_dir()) if workspace.apps.is_dir() else []
    )
    about = {"format": FORMAT, "displayed": displayed, "seal": seal("session file", records)}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("session.json", dumps(about))
        archive.writestr("state.json", records)
        for app in apps:
            for path, content in present_files(workspace.apps / app).items():
                archive.writestr(f"apps/{app}/{path}", content)
        return len(archive.namelist())


def read(file: Path) -> SessionFile:
    """Read a session; functions that no file declares come along only if this account has written them.

    Raises:
        InvalidArgumentsError: it is no such file, or too large.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_FILES or sum(one.file_size for one in entries) > MAX_BYTES:
                raise InvalidArgumentsError(f"{file} is too large for a session")
            about = loads(archive.read("session.json"))
            if about["format"] != FORMAT:
                raise InvalidArgumentsError(f"{file} was written by another version (format {about['format']})")
            records = archive.read("state.json").decode()
            if not is_sealed(about.get("seal"), "session file", records):
                records = without_code(records)
            inside = [one.filename for one in entries if one.filename.startswith("apps/") and not one.is_dir()]
            files = {name.removeprefix("apps/"): archive.read(name) for name in inside}
            return SessionFile(str(about["displayed"]), records, files)
    except (*_UNREADABLE, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidArgumentsError(f"{file} is not a session file: {error}") from error


def without_code(records: str) -> str:
    """Return a state without the bytecode of functions, which may not come from others; pure."""
    parsed: list[list[Any]] = loads(records)
    return dumps([[*one[:4], None, *one[5:]] if one[0] == "f" else one for one in parsed])
