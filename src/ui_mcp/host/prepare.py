"""Makes a base directory usable: folders, bundled files, settings. Nothing running is touched."""

import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ui_mcp import config as settings
from ui_mcp.errors import ConfigError, InstallError
from ui_mcp.installer.installed import needs_install, outdated
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger, stop_file, to_file
from ui_mcp.nofollow import PRIVATE, LinkError, make_private, open_inside
from ui_mcp.ui.own_files import settle
from ui_mcp.ui.states import Configured
from ui_mcp.workspace import Workspace

_log = logger("host")


def prepare(base_dir: str, flags: JsonObject, environment: Mapping[str, str] | None = None) -> Configured:
    """Return the configuration of `base_dir`, creating and installing what is missing.

    Raises:
        ConfigError: the directory cannot be used, or its configuration file is wrong.
    """
    workspace = Workspace.at(base_dir)
    fresh = needs_install(workspace)
    try:
        for folder in (workspace.base, *workspace.folders):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700 if folder in workspace.private else 0o777)
        for folder in workspace.private:
            make_private(folder)
        for folder in (workspace.base, *([] if workspace.log.is_symlink() else [workspace.log])):
            _require_writable(folder)
        for name in ("lua.log", "lua-err.log"):
            _unless_linked(partial(_make_log, workspace, name))
        settle(workspace)
    except OSError as error:
        raise ConfigError(f"cannot use base_dir {base_dir}: {reason(error)}", base_dir=base_dir) from error
    config = settings.load(workspace.config_file, flags=flags, environment=environment)
    for key in settings.unknown_keys(workspace.config_file):
        _log.warning("%s: unknown setting %s is ignored", workspace.config_file, key)
    stop_file()
    _unless_linked(partial(_make_log, workspace, "mcp.log"))
    _unless_linked(partial(to_file, workspace.log / "mcp.log"))
    if stale := outdated(workspace):
        _log.warning("%s", stale)
    pending = tuple(settings.pending(workspace.config_file))
    return Configured(workspace, config, _install(workspace) if fresh else None, pending)


def reason(error: OSError) -> str:
    """Say what the system said, naming the path it complains of."""
    blocked = isinstance(error, FileExistsError | NotADirectoryError)
    text = "a file is in the way" if blocked else error.strerror or str(error)
    return f"{text} ({Path(os.fsdecode(error.filename)).name})" if error.filename else text


def _make_log(workspace: Workspace, name: str) -> None:
    descriptor = open_inside(workspace.base, workspace.log / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if os.name == "posix":
            os.fchmod(descriptor, PRIVATE)
    finally:
        os.close(descriptor)


def _unless_linked(make: Callable[[], None]) -> None:
    """Do without a log whose place is taken by a link: what it leads to is not ours to write."""
    try:
        make()
    except LinkError as error:
        _log.warning("%s %s; nothing is written there", error.filename, error.strerror)


def _install(workspace: Workspace) -> str | None:
    from ui_mcp.ui.installer import install  # only the first start in a directory needs it

    try:
        install(workspace)
    except InstallError as error:
        _log.warning("automatic installation: %s", error.message)
        return error.message
    return None


def _require_writable(folder: Path) -> None:
    # Permission bits say nothing to root or on network drives; only writing tells.
    with tempfile.TemporaryFile(dir=folder):
        pass
