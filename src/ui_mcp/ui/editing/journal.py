"""The journal of an app's edits in `.ui-mcp/versions/APP/`: each is applied as a whole, and can be undone.

`pending.json` names the files of an edit, before and after, while it is being applied; the edit counts once that record
is renamed to its number. A process that ends before leaves the record, and the next one restores what was before.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from ui_mcp.errors import NotFoundError, RefusedError, UiMcpError
from ui_mcp.files import PRIVATE, TEMPORARY_SUFFIX, try_lock, write_atomic
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.log import logger
from ui_mcp.ui.app_files import KeptContents, file_diff, is_plain, place_of, require_no_link
from ui_mcp.ui.instance import open_regular
from ui_mcp.workspace import Workspace, make_own

KEPT_EDITS = 100
LOCK_SECONDS = 30.0
_PAUSE = 0.01
_log = logger("edits")

State = tuple[str, int] | None
"""A file's digest and mode; None if there is none."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: the states of its files before and after, and the versions of the app."""

    before: Mapping[str, State]
    after: Mapping[str, State]
    previous: str
    version: str
    made: tuple[str, ...] = ()
    """Directories that did not exist before, deepest first."""
    findings: tuple[str, ...] = ()
    """What the audit found after it."""

    def json(self) -> JsonObject:
        return {
            "before": _written(self.before),
            "after": _written(self.after),
            "previous": self.previous,
            "version": self.version,
            "made": list(self.made),
            "findings": list(self.findings),
        }

    def reversed(self) -> "Edit":
        """Return the edit that takes this one back."""
        return Edit(self.after, self.before, self.version, self.previous, self.made)


@dataclass(frozen=True, slots=True)
class Draft:
    """The files of an edit that was refused, so that it can be corrected without sending it again."""

    version: str
    base: str
    """The version of the app that it was made for."""
    files: Mapping[str, bytes | None]


class EditJournal:
    """The edits of one app; callers hold `editing`, except to read. Its methods block."""

    def __init__(self, workspace: Workspace, app: str) -> None:
        """Find the place of an app, which need not exist.

        Raises:
            InvalidArgumentsError: the name cannot be that of an app.
            RefusedError: its place is not allowed.
        """
        self.folder = place_of(workspace, app)
        self._contents = KeptContents(workspace, "versions", app)
        self._store = self._contents.folder
        self._pending = self._store / "pending.json"

    def apply(self, edit: Edit, contents: Mapping[str, bytes]) -> None:
        """Write the files of an edit; `contents` has those of before and after, by digest.

        Raises:
            RefusedError: the record cannot be kept; nothing has changed.
            OSError: a file cannot be written; `revert` restores the others.
        """
        self._contents.make()
        for digest in sorted({state[0] for state in (*edit.before.values(), *edit.after.values()) if state}):
            self._contents.put(contents[digest])
        write_atomic(self._pending, dumps(edit.json()).encode(), mode=PRIVATE)
        for path, state in edit.after.items():
            self._write(path, state)
        self._remove_empty(edit.made)  # of an undo: what the edit had made

    def commit(self) -> None:
        """Make the applied edit count, and forget the oldest ones."""
        self._pending.replace(self._store / f"{self._last_number() + 1:06}.json")
        self._prune()

    def commit_undo(self, number: int) -> None:
        """Make an applied undo of edit `number` count."""
        self._pending.replace(self._store / f"{number:06}.undone.json")

    def revert(self) -> list[str]:
        """Restore what was before the edit that is being applied; return files that were changed by others since."""
        edit = read_edit(self._pending)
        if edit is None:
            self._pending.unlink(missing_ok=True)
            return []
        kept = []
        for path, state in edit.before.items():
            self._remove_temporary(path)
            present = state_of(self.folder / path)
            if _digest(present) in (_digest(state), _digest(edit.after.get(path))):
                self._write(path, state)
            else:
                kept.append(path)
        self._remove_empty(edit.made)
        self._pending.unlink(missing_ok=True)
        return kept

    def recover(self) -> None:
        """Take back an edit that another process had not finished when it ended."""
        if self._pending.exists():
            kept = self.revert()
            _log.warning("an edit of apps/%s was interrupted; its files are as before", self.folder.name)
            for path in kept:
                _log.warning("apps/%s/%s was saved since, and stays", self.folder.name, path)
        for file in self._store.glob(".*.json.*"):
            file.unlink(missing_ok=True)

    def last(self) -> tuple[int, Edit] | None:
        """Return the last edit that was not undone, with its number."""
        for number in sorted(self._numbers(), reverse=True):
            if not (self._store / f"{number:06}.undone.json").exists():
                edit = read_edit(self._store / f"{number:06}.json")
                return (number, edit) if edit else None
        return None

    def contents(self, edit: Edit) -> dict[str, bytes]:
        """Return the contents of an edit's files by digest.

        Raises:
            NotFoundError: one is missing or damaged.
        """
        states = (*edit.before.values(), *edit.after.values())
        return {state[0]: self._contents.get(state[0]) for state in states if state}

    def require_unchanged(self, edit: Edit) -> None:
        """Check that the files of an edit are as it left them.

        Raises:
            RefusedError: one was changed since.
        """
        changed = [
            path for path, state in edit.after.items() if _digest(state_of(self.folder / path)) != _digest(state)
        ]
        if changed:
            raise RefusedError(
                f"Not undone: {', '.join(changed)} changed since the last edit\n"
                + "\n".join(line for path in changed for line in self._diff_since(path, edit.after[path]))
            )

    def keep_draft(self, draft: Draft) -> None:
        """Keep a refused edit, instead of the one before."""
        self._contents.make()
        files = {
            path: None if content is None else self._contents.put(content) for path, content in draft.files.items()
        }
        record = {"version": draft.version, "base": draft.base, "files": files}
        write_atomic(self._store / "draft.json", dumps(record).encode(), mode=PRIVATE)

    def draft(self, version: str) -> Draft | None:
        """Return the refused edit of this version, if it is still kept."""
        try:
            record = loads((self._store / "draft.json").read_bytes())
            if record["version"] != version or not all(map(is_plain, record["files"])):
                return None
            files = {path: self._contents.get(digest) if digest else None for path, digest in record["files"].items()}
            return Draft(version, str(record["base"]), files)
        except (OSError, ValueError, KeyError, TypeError, UiMcpError):
            return None

    def _write(self, path: str, state: State) -> None:
        file = self.folder / path
        if state is None:
            file.unlink(missing_ok=True)
        elif state_of(file) != state:
            require_no_link(self.folder, path)
            write_atomic(file, self._contents.get(state[0]), mode=state[1])

    def _remove_temporary(self, path: str) -> None:
        """Delete what was left of a write that did not end."""
        file = self.folder / path
        for other in file.parent.glob(f".{_escaped(file.name)}.*"):
            if TEMPORARY_SUFFIX.fullmatch(other.name.removeprefix(f".{file.name}.")):
                other.unlink(missing_ok=True)

    def _remove_empty(self, folders: tuple[str, ...]) -> None:
        for folder in folders:
            with suppress(OSError):
                (self.folder / folder).rmdir()

    def _diff_since(self, path: str, state: State) -> list[str]:
        file = self.folder / path
        old = None
        with suppress(NotFoundError):
            old = self._contents.get(state[0]) if state else None
        return file_diff(path, old, file.read_bytes() if file.is_file() else None)[:100]

    def _numbers(self) -> list[int]:
        return [int(file.stem) for file in self._store.glob("[0-9]*.json") if file.stem.isdigit()]

    def _last_number(self) -> int:
        return max(self._numbers(), default=0)

    def _prune(self) -> None:
        numbers = sorted(self._numbers())
        if len(numbers) <= KEPT_EDITS + 20:  # not with every edit: the others' records have to be read for it
            return
        for number in numbers[:-KEPT_EDITS]:
            for name in (f"{number:06}.json", f"{number:06}.undone.json"):
                (self._store / name).unlink(missing_ok=True)
        edits = [read_edit(file) for file in self._store.glob("[0-9]*.json")]
        states = [state for edit in edits if edit for state in (*edit.before.values(), *edit.after.values())]
        (self._store / "draft.json").unlink(missing_ok=True)
        self._contents.keep_only({state[0] for state in states if state})


@contextmanager
def editing(workspace: Workspace) -> Iterator[None]:
    """Hold the right to edit apps of a directory, which one process and one call at a time has. Blocks.

    Raises:
        RefusedError: another edit takes too long.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while not (held := _try_editing(workspace)):
        if time.monotonic() > deadline:
            raise RefusedError("Another edit in this directory has not ended\nTry again.")
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        held.close()


def _try_editing(workspace: Workspace) -> BinaryIO | None:
    make_own(workspace)
    file = open_regular(workspace.own / "edit.lock", os.O_RDWR | os.O_CREAT)
    try:
        try_lock(file)
    except OSError:
        file.close()
        return None
    return file


def recover_edits(workspace: Workspace) -> None:
    """Take back the unfinished edits of processes that ended; edits that are being made now are left alone. Blocks."""
    interrupted = sorted(workspace.versions.glob("*/pending.json"))
    if not interrupted or not (held := _try_editing(workspace)):
        return
    try:
        for pending in interrupted:
            try:
                EditJournal(workspace, pending.parent.name).recover()
            except (UiMcpError, OSError) as error:
                _log.error("the interrupted edit of apps/%s cannot be taken back: %s", pending.parent.name, error)
    finally:
        held.close()


def state_of(file: Path) -> State:
    """Return the digest and mode of a file; a link counts as none, and is never written through."""
    if file.is_symlink() or not file.is_file():
        return None
    return sha256(file.read_bytes()).hexdigest(), file.stat().st_mode & 0o777


def read_edit(file: Path) -> Edit | None:
    """Return the edit in a record, or None if it is missing or damaged."""
    try:
        record = loads(file.read_bytes())
        before, after = _read_states(record["before"]), _read_states(record["after"])
        made = tuple(str(folder) for folder in record["made"])
        if before.keys() != after.keys() or not all(folder == "." or is_plain(folder) for folder in made):
            return None
        findings = tuple(str(finding) for finding in record["findings"])
        return Edit(before, after, str(record["previous"]), str(record["version"]), made, findings)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read_states(record: Json) -> dict[str, State]:
    states = {str(path): (str(state[0]), int(state[1]) & 0o777) if state else None for path, state in record.items()}
    if not all(map(is_plain, states)):
        raise ValueError("not paths of an app")
    return states


def _written(states: Mapping[str, State]) -> JsonObject:
    return {path: list(state) if state else None for path, state in states.items()}


def _digest(state: State) -> str | None:
    return state[0] if state else None


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)
