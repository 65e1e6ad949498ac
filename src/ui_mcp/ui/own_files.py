"""Where our own files are, and which processes use them."""

import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import unquote

from ui_mcp.errors import ConfigError
from ui_mcp.log import logger
from ui_mcp.ui import instance
from ui_mcp.workspace import MOVING, OLD_FILES, Workspace, make_own

OTHER_MOVE_SECONDS = 60.0
"""How long a process waits for another one that is moving the files."""

_PAUSE = 0.05
_log = logger("storage")

_shared: dict[Path, BinaryIO] = {}
"""Held until this process ends, by base directory: we use the old place there."""


class Action(Enum):
    """What has to be done before our own files can be used."""

    NOTHING = auto()
    CREATE = auto()
    MOVE = auto()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a look at the base directory found."""

    own: Literal["absent", "unfinished", "ready"]
    left: Collection[str]
    """Files of ours in `storage/`."""


def decide(facts: Facts) -> Action:
    """Return what has to be done; pure."""
    match facts.own:
        case "ready":
            return Action.NOTHING
        case "unfinished":
            return Action.MOVE
        case "absent":
            return Action.MOVE if facts.left else Action.CREATE


def look(workspace: Workspace) -> Facts:
    """Look at the base directory; nothing is changed."""
    if not workspace.own.is_dir():
        return Facts("absent", workspace.left_in_storage())
    unfinished = (workspace.own / MOVING).exists()
    return Facts("unfinished" if unfinished else "ready", workspace.left_in_storage())


def settle(workspace: Workspace) -> Path:
    """Make the folder of our own files ready, moving what an older version kept in `storage/`, and return it.

    When that is not possible, the old place goes on being used; the log and `ui-mcp doctor` say why. Blocks.

    Raises:
        ConfigError: a link or file is in the place of our own, or another process does not finish moving.
    """
    action = decide(look(workspace))
    if action is Action.MOVE and workspace.base not in _shared:
        _move_or_stay(workspace)
    if workspace.state_dir == workspace.own:
        with suppress(OSError):  # who wants to keep something there says what it was
            make_own(workspace)
    if link := own_link(workspace):
        raise ConfigError(f"{link} is a link, and must be a file of ui-mcp's own\nRemove the link.")
    if strays := left_behind(workspace):
        _log.warning("an older ui-mcp wrote %s after our own files had moved; see `ui-mcp doctor`", ", ".join(strays))
    for path in behind_links(workspace):
        _log.warning("%s stays where it is, since a link leads there; see `ui-mcp doctor`", path)
    return workspace.state_dir


def own_link(workspace: Workspace) -> Path | None:
    """Return a link in the place of one of our own files: a repository's would have us write what it leads to."""
    folder = workspace.state_dir
    in_use = [folder / name for name in OLD_FILES]
    files = sorted(folder.iterdir()) if folder == workspace.own and folder.is_dir() else in_use
    return next((file for file in files if file.is_symlink()), None)


def behind_links(workspace: Workspace) -> list[Path]:
    """Return files of an older version to which a link leads; it may be a repository's, and is not followed."""
    away = workspace.storage_leads_away
    files = [workspace.storage / name for name in OLD_FILES]
    return [file.resolve() for file in files if (away or file.is_symlink()) and file.is_file()]


def left_behind(workspace: Workspace) -> list[str]:
    """Name what an older version wrote to `storage/` after everything had been moved; it is never touched."""
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
            _moved_or_held(workspace, file)
        elif locked(file, shared=True):
            _shared[workspace.base] = file  # a process that uses the old place runs, so we use it too
            return
        else:
            file.close()
            if time.monotonic() > deadline:
                message = f"Another ui-mcp is still moving its files in {workspace.base}\nTry again when it is done."
                raise ConfigError(message)
            time.sleep(_PAUSE)
        if workspace.base in _shared:
            return


def _moved_or_held(workspace: Workspace, file: BinaryIO) -> None:
    from ui_mcp.ui.migration import (
        NotMovedError,  # once in the life of a directory
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
        # Between the two locks another process may have moved the files; the caller looks again.
        if locked(file, shared=True) and decide(look(workspace)) is Action.MOVE:
            _shared[workspace.base] = file
        else:
            file.close()


def named_store(workspace: Workspace) -> Path | None:
    """Return the SQLite file that the settings name, in effect or not, which is not ours to move.

    Raises:
        ConfigError: the settings cannot be read.
    """
    import tomllib

    try:
        storage = tomllib.loads(workspace.config_file.read_text(encoding="utf-8")).get("storage")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{workspace.config_file} cannot be read: {error}") from error
    url = str(storage.get("url")) if isinstance(storage, dict) else ""
    return Path(unquote(url.removeprefix("sqlite:///"))).resolve() if url.startswith("sqlite:///") else None


def lock_file(workspace: Workspace) -> Path:
    """Return the lock of those who move files or need them unmoved; it holds the reason of the last failure."""
    return workspace.base / ".ui-mcp.lock"


def locked(file: BinaryIO, *, shared: bool = False) -> bool:
    """Try to lock a file, and say whether that worked."""
    try:
        instance.try_lock(file, shared=shared)
    except OSError:
        return False
    return True


def _is_current(file: BinaryIO, path: Path) -> bool:
    """Say whether the file we hold is still the one at the path: who moved the files has removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except OSError:
        return False


PROCESSES = Path("/proc")


def waiting_for(pipes: Path) -> int | None:
    """Return a process that waits at a named pipe in the folder of a store; pipes are named after their process."""
    if not hasattr(os, "mkfifo") or not pipes.is_dir():
        return None
    for pipe in sorted(pipes.iterdir()):
        with suppress(OSError):  # without a reader there is nobody to open it for
            if stat.S_ISFIFO(pipe.lstat().st_mode):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))
                number = pipe.name.partition("-")[0]
                return int(number) if number.isdecimal() else 0
    return None


def having_open(files: Iterable[Path]) -> tuple[int, Path] | None:
    """Return another process of this account that has one of the files open, and the file; only Linux tells."""
    wanted: dict[tuple[int, int], Path] = {}
    for file in files:
        with suppress(OSError):
            found = file.lstat()
            wanted[found.st_dev, found.st_ino] = file
    for process in _others() if wanted else ():
        for target in _open_files(process):
            if target in wanted:
                return int(process.name), wanted[target]
    return None


def _others() -> Iterator[Path]:
    own = str(os.getpid())
    with suppress(OSError):
        yield from (entry for entry in PROCESSES.iterdir() if entry.name.isdecimal() and entry.name != own)


def _open_files(process: Path) -> Iterator[tuple[int, int]]:
    with suppress(OSError), os.scandir(process / "fd") as entries:  # it has ended, or is not ours to look at
        for entry in entries:
            with suppress(OSError):
                # Only files: asking for more could wait for a network disk that is away.
                if os.readlink(entry.path).startswith("/"):  # noqa: PTH115 - many thousands of them
                    found = os.stat(entry.path)  # noqa: PTH116
                    yield found.st_dev, found.st_ino
