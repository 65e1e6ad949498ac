"""Apps that wait for the person's decision: unpacked outside `apps/`, reviewed, then installed or deleted."""

import json
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from ui_mcp.config import LuaPermissions
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.checkpoints import Checkpoints
from ui_mcp.ui.console.catalog import remove
from ui_mcp.ui.console.review import review
from ui_mcp.ui.console.scaffold import check_name
from ui_mcp.ui.console.sources import unpack
from ui_mcp.workspace import Workspace, make_own

MAX_STAGED = 5
MAX_APPS = 50
MAX_SHOWN = 256 * 1024
KEPT_SECONDS = 7 * 86400
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Source:
    """Where an imported app came from."""

    kind: str
    """`git` or `archive`."""
    label: str
    """Address of the repository, or name of the archive."""

    def as_json(self) -> JsonObject:
        return {"kind": self.kind, "label": self.label}


class Imports:
    """The staged imports of one project, in `.ui-mcp/imports/`, which apps cannot reach."""

    def __init__(self, workspace: Workspace, permissions: LuaPermissions) -> None:
        self._workspace = workspace
        self._permissions = permissions
        self._folder = workspace.own / "imports"

    def stage(self, data: bytes, source: Source, hint: str = "") -> JsonObject:
        """Unpack an archive and return its review; `hint` names an app whose files are at the top of the archive.

        Raises:
            RefusedError: the archive is refused, or contains no app.
        """
        make_own(self._workspace)
        self._forget_old()
        number = token_hex(8)
        place = self._folder / number
        files = place / "files"
        files.mkdir(parents=True, mode=0o700)
        try:
            left_out = unpack(data, files)
            if not find_apps(files):
                raise RefusedError(
                    "There is no app in it\nAn app is a folder with an app.lua, or with a requirements.md for your "
                    "agent to build from."
                )
            record = {
                **source.as_json(),
                "hint": _as_name(hint) or "app",
                "left_out": left_out[:100],
                "at": int(time.time()),
            }
            write_atomic(place / "import.json", json.dumps(record).encode(), mode=PRIVATE)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        return self.described(number)

    def described(self, number: str) -> JsonObject:
        """Return an import with the review of each of its apps.

        Raises:
            NotFoundError: there is no such import.
        """
        record = self._record(number)
        files = self._folder / number / "files"
        apps = [self._reviewed(files, folder, str(record["hint"])) for folder in find_apps(files)]
        return {
            "id": number,
            "source": {"kind": record["kind"], "label": record["label"]},
            "left_out": record["left_out"],
            "apps": apps,
        }

    def staged(self) -> list[JsonObject]:
        """Return the imports that wait, oldest first."""
        found = []
        for place in sorted(self._folder.glob("*/import.json"), key=lambda file: file.stat().st_mtime):
            record = self._record(place.parent.name)
            found.append({"id": place.parent.name, "source": {"kind": record["kind"], "label": record["label"]}})
        return found

    def file(self, number: str, path: str) -> JsonObject:
        """Return the text of a staged file, at most `MAX_SHOWN` bytes of it.

        Raises:
            NotFoundError: there is no such file.
        """
        self._record(number)
        files = self._folder / number / "files"
        file = (files / path).resolve()
        if not file.is_relative_to(files.resolve()) or not file.is_file():
            raise NotFoundError(f"There is no {path!r} in this import")
        with file.open("rb") as stream:
            data = stream.read(MAX_SHOWN + 1)
        binary = b"\0" in data
        text = "" if binary else data[:MAX_SHOWN].decode("utf-8", "replace")
        return {"path": path, "size": file.stat().st_size, "text": text, "binary": binary, "cut": len(data) > MAX_SHOWN}

    def accept(self, number: str, folder: str, name: str, *, replace: bool = False) -> str:
        """Install one app of an import as `apps/NAME` and return its name; the last one ends the import.

        Raises:
            NotFoundError: there is no such import or app.
            RefusedError: the name is invalid or taken, or `apps` leads out of the project.
        """
        record = self._record(number)
        files = self._folder / number / "files"
        if folder not in find_apps(files):
            raise NotFoundError(f"There is no app {folder!r} in this import")
        check_name(name)
        target = self._workspace.apps / name
        if not self._workspace.contains(target):
            raise RefusedError(f"{self._workspace.apps} leads out of the project; nothing was written")
        if target.exists() or target.is_symlink():
            if not replace:
                raise RefusedError(f"There is an app {name!r} already\nChoose another name, or replace it.")
            remove(self._workspace, name)
        self._install(files / folder, target)
        self._remember(name, record)
        if not find_apps(files):
            self.discard(number)
        return name

    def discard(self, number: str) -> None:
        """Delete an import.

        Raises:
            NotFoundError: there is no such import.
        """
        self._record(number)
        shutil.rmtree(self._folder / number, ignore_errors=True)

    def _install(self, staged: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{token_hex(4)}")
        try:
            # A copy, because `.ui-mcp` may be on another file system; the rename makes it appear at once and whole.
            shutil.copytree(staged, temporary, copy_function=shutil.copyfile)
            temporary.rename(target)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise RefusedError(f"Cannot write {target}: {error.strerror or error}") from error
        shutil.rmtree(staged, ignore_errors=True)

    def _remember(self, name: str, record: JsonObject) -> None:
        """Keep where the app came from, and its files as the baseline that later changes are compared with."""
        Checkpoints(self._workspace, name).baseline()
        source = {"kind": record["kind"], "label": record["label"], "at": int(time.time())}
        write_atomic(self._workspace.own / "sources" / f"{name}.json", json.dumps(source).encode(), mode=PRIVATE)

    def _reviewed(self, files: Path, folder: str, hint: str) -> JsonObject:
        place = files / folder
        name = _as_name(Path(folder).name) if folder else hint
        found = review(place).as_json(self._permissions)
        has_code = (place / "app.lua").is_file()
        return {
            "folder": folder,
            "name": name,
            "exists": (self._workspace.apps / name).exists() if name else False,
            "built": has_code,
            **found,
        }

    def _record(self, number: str) -> JsonObject:
        if not _ID.fullmatch(number):
            raise NotFoundError("There is no such import")
        try:
            record: JsonObject = json.loads((self._folder / number / "import.json").read_bytes())
        except (OSError, ValueError) as error:
            raise NotFoundError("There is no such import; it was installed, deleted or is too old") from error
        return record

    def _forget_old(self) -> None:
        """Delete imports that were left for a week, and all but the newest few."""
        places = sorted((place for place in self._folder.glob("*") if place.is_dir()), key=_age, reverse=True)
        for at, place in enumerate(places):
            if at >= MAX_STAGED - 1 or _age(place) < time.time() - KEPT_SECONDS:
                shutil.rmtree(place, ignore_errors=True)


def _age(place: Path) -> float:
    return place.stat().st_mtime


def find_apps(files: Path) -> list[str]:
    """Return the folders that hold an app, relative to `files`; empty text for `files` itself."""
    marks = [file.parent for name in ("app.lua", "requirements.md") for file in files.rglob(name)]
    found = sorted({folder.relative_to(files).as_posix() for folder in marks})
    whole = ["" if folder == "." else folder for folder in found]
    # What lies inside an app is part of it.
    outer = [one for one in whole if not any(_is_below(one, other) for other in whole)]
    return outer[:MAX_APPS]


def _is_below(folder: str, other: str) -> bool:
    return folder != other and (other == "" or folder.startswith(f"{other}/"))


def _as_name(text: str) -> str:
    """Return a text as the name of an app, or an empty text; pure."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-").lstrip("0123456789-")[:40].rstrip("-")


def archive_hint(name: str) -> str:
    """Return what an archive's file name says about the app in it; pure."""
    return re.sub(r"\.(zip|tar|tgz|tbz2|txz|gz|bz2|xz)$", "", re.sub(r"\.(gz|bz2|xz)$", "", name.lower()))


def require_archive_name(name: str) -> str:
    """Return the name that is shown for an archive.

    Raises:
        InvalidArgumentsError: the name is empty or has control characters.
    """
    shown = name.replace("\\", "/").rpartition("/")[2]
    if not shown or len(shown) > 200 or not shown.isprintable():
        raise InvalidArgumentsError("Send the file's name as ?name=…")
    return shown
