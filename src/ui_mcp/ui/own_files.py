"""Locates ui-mcp's own files in a base directory, and moves those of an older version."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ui_mcp.errors import ConfigError
from ui_mcp.log import logger
from ui_mcp.ui import instance
from ui_mcp.ui.base_dir.file_layout import Action, decide, locked, look, named_store
from ui_mcp.workspace import OLD_FILES, Workspace, make_own

OTHER_MOVE_SECONDS = 60.0
"""Longest time to wait for another process that is moving the files."""

_PAUSE = 0.05
_log = logger("storage")

_shared: dict[Path, BinaryIO] = {}
"""Shared locks by base directory, held until this process exits: it uses the old location there."""


def settle(workspace: Workspace) -> Path:
    """Prepare the folder of ui-mcp's own files, moving those that an older version kept in `storage/`, and return it.

    If the move is not possible, the old location stays in use; the log and `ui-mcp doctor` give the reason. Blocks.

    Raises:
        ConfigError: a link or file has the name of the folder, or another process does not finish moving.
    """
    action = decide(look(workspace))
    if action is Action.MOVE and workspace.base not in _shared:
        _move_or_stay(workspace)
    if workspace.state_dir == workspace.own:
        with suppress(OSError):  # the code that writes there reports the error
            make_own(workspace)
    if link := own_link(workspace):
        raise ConfigError(f"{link} is a link, and must be a file of ui-mcp's own\nRemove the link.")
    if strays := left_behind(workspace):
        _log.warning("an older ui-mcp wrote %s after our own files had moved; see `ui-mcp doctor`", ", ".join(strays))
    for path in behind_links(workspace):
        _log.warning("%s stays where it is, since a link leads there; see `ui-mcp doctor`", path)
    return workspace.state_dir


def own_link(workspace: Workspace) -> Path | None:
    """Return a link in the place of one of the own files; one from a repository could redirect writes."""
    folder = workspace.state_dir
    in_use = [folder / name for name in OLD_FILES]
    files = sorted(folder.iterdir()) if folder == workspace.own and folder.is_dir() else in_use
    return next((file for file in files if file.is_symlink()), None)


def behind_links(workspace: Workspace) -> list[Path]:
    """Return files of an older version behind links, which are not followed, as they may come from a repository."""
    away = workspace.storage_leads_away
    files = [workspace.storage / name for name in OLD_FILES]
    return [file.resolve() for file in files if (away or file.is_symlink()) and file.is_file()]


def left_behind(workspace: Workspace) -> list[str]:
    """Return what an older version wrote to `storage/` after the move; it is never touched."""
    facts = look(workspace)
    if facts.own != "ready" or not facts.left:
        return []
    with suppress(ConfigError):
        named = named_store(workspace)
        return [name for name in facts.left if (workspace.storage / name).resolve() != named]
    return []


def _move_or_stay(workspace: Workspace) -> None:
    deadline = time.monotonic() + OTHER_MOVE_SECONDS
    while decide(look(workspace)) is Action.MOVE:
        try:
            file = instance.open_regular(lock_file(workspace), os.O_RDWR | os.O_CREAT)
        except OSError as error:
            _log.warning("ui-mcp's own files stay in %s: %s", workspace.storage, error.strerror or error)
            return
        if locked(file):
            _move_or_hold_lock(workspace, file)
        elif locked(file, shared=True):
            _shared[workspace.base] = file  # a running process uses the old location, so this one does too
            return
        else:
            file.close()
            if time.monotonic() > deadline:
                message = f"Another ui-mcp is still moving its files in {workspace.base}\nTry again when it is done."
                raise ConfigError(message)
            time.sleep(_PAUSE)
        if workspace.base in _shared:
            return


def _move_or_hold_lock(workspace: Workspace, file: BinaryIO) -> None:
    from ui_mcp.ui.base_dir.migration import (
        NotMovedError,  # imported late: needed once per directory
        moving,
    )

    try:
        if _is_current(file, lock_file(workspace)):
            for _ in moving(workspace):
                pass
            lock_file(workspace).unlink(missing_ok=True)
        file.close()
    except NotMovedError as why:
        _log.warning("ui-mcp's own files stay in %s: %s", workspace.storage, why)
        with suppress(OSError):
            file.truncate(0)
            file.write(str(why).encode())
            file.flush()
        # Between the two locks another process may have moved the files; the caller checks again.
        if locked(file, shared=True) and decide(look(workspace)) is Action.MOVE:
            _shared[workspace.base] = file
        else:
            file.close()


def lock_file(workspace: Workspace) -> Path:
    """Return the lock of processes that move files or need them unmoved; it contains the reason of the last failure."""
    return workspace.base / ".ui-mcp.lock"


def _is_current(file: BinaryIO, path: Path) -> bool:
    """Return whether the locked file is still the one at the path; the process that moved the files deletes it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except OSError:
        return False


def finish_edits(workspace: Workspace) -> None:
    """Take back edits of apps that a process had not finished when it ended."""
    if any(workspace.versions.glob("*/pending.json")):
        from ui_mcp.ui.editing.journal import recover_edits  # imported late: only needed after a crash

        recover_edits(workspace)
