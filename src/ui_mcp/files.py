"""Writes files so that a reader sees the old text or the new one, and never outside the project."""

import os
import tempfile
from hashlib import sha256
from pathlib import Path

from ui_mcp.errors import InstallError
from ui_mcp.workspace import Workspace, make_own


def write_atomically(file: Path, content: bytes, *, executable: bool = False) -> None:
    """Replace `file` in one step, making its folders; a link in its place is replaced, not written through."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        scratch.chmod(0o755 if executable else 0o644)
        scratch.replace(file)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def make_base(workspace: Workspace) -> None:
    """Make the base directory.

    Raises:
        InstallError: it cannot be made; nothing was written.
    """
    try:
        workspace.base.mkdir(parents=True, exist_ok=True)
        if workspace.state_dir == workspace.own:
            make_own(workspace)
    except OSError as error:
        blocked = isinstance(error, FileExistsError | NotADirectoryError)
        why = "a file is in the way" if blocked else error.strerror or error
        raise InstallError(
            f"Cannot make the directory {workspace.base}: {why}\nChoose another with --dir; nothing was written."
        ) from error


def digest_of(file: Path) -> str | None:
    """Return the SHA-256 of what is at `file`; `None` when nothing is there."""
    try:
        return sha256(file.read_bytes()).hexdigest()
    except FileNotFoundError:
        # A dangling link was put there by someone: it counts as a text that is not ours.
        return "" if file.is_symlink() else None


def leaves(file: Path, root: Path) -> bool:
    """Say whether the folder of `file`, with its links followed, lies outside `root`."""
    return not file.parent.resolve().is_relative_to(root.resolve())


def free_backup_name(file: Path) -> Path:
    """Return `FILE.bak`, or `FILE.bak.1` and so on when earlier backups are there."""
    backup, number = file.with_name(f"{file.name}.bak"), 0
    while backup.exists() or backup.is_symlink():
        number += 1
        backup = file.with_name(f"{file.name}.bak.{number}")
    return backup
