"""Checkpoints of an app's files: save, list, compare and restore, in `.ui-mcp/checkpoints/APP/`."""

import difflib
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.files import PRIVATE, require_inside, write_atomic
from ui_mcp.workspace import Workspace, make_own

MAX_BYTES = 64 * 1024 * 1024
MAX_FILES = 2000
MAX_DIFF_LINES = 2000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_IGNORED = re.compile(r"\..*|.*~|.*\.fossil")
"""Names that are left out: hidden files, editors' copies and the stores of another program."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    message: str
    ts: str
    files: Mapping[str, str]
    """Path in the app's directory → SHA-256 of the contents."""
    baseline: bool = False


class Checkpoints:
    """The checkpoints of one app; numbers count from the newest, which is 1."""

    def __init__(self, workspace: Workspace, app: str) -> None:
        """Find the app.

        Raises:
            NotFoundError: there is no such app.
            RefusedError: its name or place is not allowed.
        """
        self._app = app
        self._workspace = workspace
        self._folder = app_folder(workspace, app)
        self._store = workspace.own / "checkpoints" / app

    def save(self, message: str = "") -> str:
        """Keep the present files, unless nothing changed since the newest checkpoint."""
        present, known = self._present(), self._all()
        if known and digests(present) == dict(known[0].files):
            return "No changes to checkpoint"
        self._add(message or "checkpoint", present)
        return f"Saved checkpoint: {message or 'checkpoint'}"

    def baseline(self) -> str:
        """Forget every checkpoint and start again from the present files."""
        present = self._present()
        self._require_own_store()
        shutil.rmtree(self._store, ignore_errors=True)
        self._add("baseline", present, baseline=True)
        return f"Baseline set for {self._app}"

    def listing(self) -> str:
        """Return a line per checkpoint, newest first: number, time and message."""
        lines = [f"{number} {one.ts} {one.message}" for number, one in enumerate(self._saved(), start=1)]
        return "\n".join(lines) or f"No checkpoints for {self._app}"

    def count(self) -> int:
        """Return the number of checkpoints without the baseline."""
        return len(self._saved())

    def diff(self, number: int = 1) -> str:
        """Return the unified difference between a checkpoint and the present files."""
        checkpoint, present = self._numbered(number), self._present()
        lines: list[str] = []
        for path in sorted({*checkpoint.files, *present}):
            old = self._content(checkpoint.files[path]) if path in checkpoint.files else None
            lines += file_diff(path, old, present.get(path))
        if len(lines) > MAX_DIFF_LINES:
            lines = [*lines[:MAX_DIFF_LINES], f"… {len(lines) - MAX_DIFF_LINES} more lines"]
        return "\n".join(lines) or f"No changes since checkpoint {number}"

    def roll_back(self, number: int | None = None) -> str:
        """Restore a checkpoint; without a number, undo the last restore, or else restore the newest checkpoint."""
        undo = self._read(self._store / "undo.json")
        target = undo if number is None and undo else self._numbered(number or 1)
        wanted = {path: self._content(digest) for path, digest in target.files.items()}  # all, before anything changes
        present = self._present()
        self._write("undo.json", "undo", present)
        for path, content in wanted.items():
            if present.get(path) != content:
                self._require_no_link(path)
                write_atomic(self._folder / path, content)
        for path in present.keys() - wanted.keys():
            (self._folder / path).unlink(missing_ok=True)
        return "Undid the last rollback" if target is undo else f"Rolled back to checkpoint: {target.message}"

    def _saved(self) -> list[Checkpoint]:
        return [one for one in self._all() if not one.baseline]

    def _all(self) -> list[Checkpoint]:
        """Return every checkpoint, newest first."""
        found = [self._read(file) for file in sorted(self._store.glob("[0-9]*.json"), reverse=True)]
        return [one for one in found if one is not None]

    def _numbered(self, number: int) -> Checkpoint:
        known = self._all()  # the baseline can be restored too: it is the last number
        if not known:
            raise NotFoundError(f"No checkpoints for {self._app}")
        if not 1 <= number <= len(known):
            raise NotFoundError(f"Checkpoint {number} not found: {self._app} has 1 to {len(known)}, 1 is the newest")
        return known[number - 1]

    def _add(self, message: str, files: Mapping[str, bytes], *, baseline: bool = False) -> None:
        last = max((int(file.stem) for file in self._store.glob("[0-9]*.json") if file.stem.isdigit()), default=0)
        self._write(f"{last + 1:06}.json", message, files, baseline=baseline)

    def _write(self, name: str, message: str, files: Mapping[str, bytes], *, baseline: bool = False) -> None:
        self._require_own_store()
        for content in files.values():
            blob = self._blob(sha256(content).hexdigest())
            if not blob.exists():
                write_atomic(blob, zlib.compress(content), mode=PRIVATE)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        record = {"message": " ".join(message.split()), "ts": now, "baseline": baseline, "files": digests(files)}
        # Last, so that a checkpoint that is listed has all its contents.
        write_atomic(self._store / name, json.dumps(record).encode(), mode=PRIVATE)

    def _read(self, file: Path) -> Checkpoint | None:
        """Return a checkpoint, or None if its record is missing or damaged."""
        try:
            record = json.loads(file.read_bytes())
            files = {str(path): str(digest) for path, digest in record["files"].items()}
            whole = all(_plain(path) and _DIGEST.fullmatch(digest) for path, digest in files.items())
            known = Checkpoint(str(record["message"]), str(record["ts"]), files, bool(record["baseline"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return known if whole else None

    def _content(self, digest: str) -> bytes:
        try:
            inflate = zlib.decompressobj()
            content = inflate.decompress(self._blob(digest).read_bytes(), MAX_BYTES)
        except (OSError, zlib.error) as error:
            raise NotFoundError(f"A file of this checkpoint is missing or damaged: {digest[:12]}") from error
        if sha256(content).hexdigest() != digest:
            raise NotFoundError(f"A file of this checkpoint is missing or damaged: {digest[:12]}")
        return content

    def _blob(self, digest: str) -> Path:
        return self._store / "files" / digest

    def _present(self) -> dict[str, bytes]:
        """Return the contents of the app's files; links are left out."""
        found: dict[str, bytes] = {}
        size = 0
        for path in _walk(self._folder):
            content = (self._folder / path).read_bytes()
            size += len(content)
            found[path] = content
            if size > MAX_BYTES or len(found) > MAX_FILES:
                raise RefusedError(
                    f"apps/{self._app} is too large for checkpoints: at most {MAX_FILES} files and 64 MiB\n"
                    "Keep data in storage/ instead of the app's directory."
                )
        return found

    def _require_own_store(self) -> None:
        """Make `.ui-mcp/` ready; a cloned project must not lead us elsewhere by a link."""
        make_own(self._workspace)
        for folder in (self._store.parent, self._store, self._store / "files"):
            if folder.is_symlink():
                raise RefusedError(f"{folder} is a link; remove it")

    def _require_no_link(self, path: str) -> None:
        require_inside(self._folder, _existing_parent(self._folder / path))


def app_folder(workspace: Workspace, app: str) -> Path:
    """Return the directory of an app.

    Raises:
        InvalidArgumentsError: the name cannot be that of an app.
        NotFoundError: there is no such app.
        RefusedError: its directory leads out of the project.
    """
    if not _NAME.fullmatch(app):
        raise InvalidArgumentsError(f"An app's name has letters, digits, - and _ only: {app!r}")
    folder = workspace.apps / app
    if not folder.is_dir():
        raise NotFoundError(f"App not found: {app}; there is no apps/{app}")
    if not folder.resolve().is_relative_to(workspace.project):
        raise RefusedError(f"apps/{app} is a link that leaves the project")
    return folder.resolve()


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: sha256(content).hexdigest() for path, content in sorted(files.items())}


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


def _walk(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _IGNORED.fullmatch(name))
        for name in sorted(files):
            file = Path(place) / name
            if not _IGNORED.fullmatch(name) and not file.is_symlink() and file.is_file():
                yield file.relative_to(folder).as_posix()


def _plain(path: str) -> bool:
    parts = path.split("/")
    return not any(part == "" or _IGNORED.fullmatch(part) or "\\" in part or "\0" in part for part in parts)


def _existing_parent(path: Path) -> Path:
    return next(parent for parent in path.parents if parent.exists())
