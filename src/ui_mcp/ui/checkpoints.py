"""Checkpoints of an app's files and state: save, list, compare and restore, in `.ui-mcp/checkpoints/APP/`."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import NotFoundError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.ui.app_files import (
    KeptContents,
    app_folder,
    digests,
    file_diff,
    is_plain,
    present_files,
    require_no_link,
)
from ui_mcp.workspace import Workspace

MAX_DIFF_LINES = 2000
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    message: str
    ts: str
    files: Mapping[str, str]
    """Path in the app's directory → SHA-256 of the contents."""
    baseline: bool = False
    state: str = ""
    """SHA-256 of the app's state; empty if it was not kept."""


class Checkpoints:
    """The checkpoints of one app; numbers count from the newest, which is 1."""

    def __init__(self, workspace: Workspace, app: str) -> None:
        """Find the app.

        Raises:
            NotFoundError: there is no such app.
            RefusedError: its name or place is not allowed.
        """
        self._app = app
        self._folder = app_folder(workspace, app)
        self._contents = KeptContents(workspace, "checkpoints", app)
        self._store = self._contents.folder

    def save(self, message: str = "", state: bytes = b"") -> str:
        """Keep the present files and the app's state, unless nothing changed since the newest checkpoint."""
        present, known = present_files(self._folder), self._all()
        same_state = known and (not state or sha256(state).hexdigest() == known[0].state)
        if same_state and digests(present) == dict(known[0].files):
            return "No changes to checkpoint"
        self._add(message or "checkpoint", present, state)
        return f"Saved checkpoint: {message or 'checkpoint'}"

    def baseline(self) -> str:
        """Forget every checkpoint and start again from the present files."""
        present = present_files(self._folder)
        self._contents.make()
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

    def changed_since_baseline(self) -> bool:
        """Return whether the present files differ from the baseline; false without one."""
        baseline = next((one for one in self._all() if one.baseline), None)
        return baseline is not None and digests(present_files(self._folder)) != dict(baseline.files)

    def diff(self, number: int = 1) -> str:
        """Return the unified difference between a checkpoint and the present files."""
        checkpoint, present = self._numbered(number), present_files(self._folder)
        lines: list[str] = []
        for path in sorted({*checkpoint.files, *present}):
            old = self._contents.get(checkpoint.files[path]) if path in checkpoint.files else None
            lines += file_diff(path, old, present.get(path))
        if len(lines) > MAX_DIFF_LINES:
            lines = [*lines[:MAX_DIFF_LINES], f"… {len(lines) - MAX_DIFF_LINES} more lines"]
        return "\n".join(lines) or f"No changes since checkpoint {number}"

    def roll_back(self, number: int | None = None, state: bytes = b"") -> tuple[str, bytes]:
        """Restore the files of a checkpoint; without a number, undo the last restore, or else restore the newest one.

        `state` is the app's present one. Return what was done, and the state that belongs to the files, if it was kept.
        """
        undo = self._read(self._store / "undo.json")
        target = undo if number is None and undo else self._numbered(number or 1)
        wanted = {
            path: self._contents.get(digest) for path, digest in target.files.items()
        }  # all, before anything changes
        present = present_files(self._folder)
        self._write("undo.json", "undo", present, state)
        kept = self._contents.get(target.state) if target.state else b""
        for path, content in wanted.items():
            if present.get(path) != content:
                require_no_link(self._folder, path)
                write_atomic(self._folder / path, content)
        for path in present.keys() - wanted.keys():
            (self._folder / path).unlink(missing_ok=True)
        return "Undid the last rollback" if target is undo else f"Rolled back to checkpoint: {target.message}", kept

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

    def _add(self, message: str, files: Mapping[str, bytes], state: bytes = b"", *, baseline: bool = False) -> None:
        last = max((int(file.stem) for file in self._store.glob("[0-9]*.json") if file.stem.isdigit()), default=0)
        self._write(f"{last + 1:06}.json", message, files, state, baseline=baseline)

    def _write(
        self, name: str, message: str, files: Mapping[str, bytes], state: bytes = b"", *, baseline: bool = False
    ) -> None:
        self._contents.make()
        kept = self._contents.put(state) if state else ""
        for content in files.values():
            self._contents.put(content)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        record = {"message": " ".join(message.split()), "ts": now, "baseline": baseline, "files": digests(files)}
        if kept:  # functions are in it, so one that came with a repository does not count
            record |= {"state": kept, "seal": seal("checkpoint", self._app, kept)}
        # Last, so that a checkpoint that is listed has all its contents.
        write_atomic(self._store / name, json.dumps(record).encode(), mode=PRIVATE)

    def _read(self, file: Path) -> Checkpoint | None:
        """Return a checkpoint, or None if its record is missing or damaged."""
        try:
            record = json.loads(file.read_bytes())
            files = {str(path): str(digest) for path, digest in record["files"].items()}
            whole = all(is_plain(path) and _DIGEST.fullmatch(digest) for path, digest in files.items())
            kept = str(record.get("state", ""))
            ours = kept and is_sealed(record.get("seal"), "checkpoint", self._app, kept)
            message, ts, baseline = str(record["message"]), str(record["ts"]), bool(record["baseline"])
            known = Checkpoint(message, ts, files, baseline, kept if ours else "")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return known if whole else None
