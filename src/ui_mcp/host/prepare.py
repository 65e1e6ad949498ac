"""Makes a base directory usable: folders, bundled files, settings. Nothing running is touched."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ui_mcp import config as settings
from ui_mcp.errors import ConfigError, InstallError
from ui_mcp.host.own_files import settle
from ui_mcp.host.states import Configured
from ui_mcp.installer.installed import needs_install, outdated
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger, to_file
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
        for folder in (workspace.base, workspace.log):
            _require_writable(folder)
        for name in ("lua.log", "lua-err.log"):
            (workspace.log / name).touch()
        settle(workspace)
    except OSError as error:
        raise ConfigError(f"cannot use base_dir {base_dir}: {reason(error)}", base_dir=base_dir) from error
    config = settings.load(workspace.config_file, flags=flags, environment=environment)
    for key in settings.unknown_keys(workspace.config_file):
        _log.warning("%s: unknown setting %s is ignored", workspace.config_file, key)
    to_file(workspace.log / "mcp.log")
    if stale := outdated(workspace):
        _log.warning("%s", stale)
    return Configured(workspace, config, _install(workspace) if fresh else None)


def reason(error: OSError) -> str:
    """Say what the system said, naming the path it complains of."""
    blocked = isinstance(error, FileExistsError | NotADirectoryError)
    text = "a file is in the way" if blocked else error.strerror or str(error)
    return f"{text} ({Path(os.fsdecode(error.filename)).name})" if error.filename else text


def _install(workspace: Workspace) -> str | None:
    from ui_mcp.installer.install import install  # only the first start in a directory needs it

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
