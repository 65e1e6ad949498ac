"""Where the gateway of a project stores its approvals."""

import os
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path

from ui_mcp.config import Config
from ui_mcp.gateway.config.agreement import NotAgreedError, found_file, load_agreed, load_found
from ui_mcp.gateway.config.loader import find, load
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class NamedFile:
    """The nlui.yaml that the setting `gateway.config` of a project names."""

    file: Path
    project: Path


def named_file(workspace: Workspace, config: Config) -> NamedFile | None:
    """Return the file that the setting `gateway.config` names, None if it is not set."""
    given = config.gateway.config
    return NamedFile(workspace.named(given), workspace.project) if given else None


def approvals_url(named: NamedFile | None) -> str:
    """Return path or URL of the approvals: of the named file's gateway, else of the one found here.

    Raises:
        ConfigError: the file is invalid, or the person has not agreed to the named one.
    """
    return _settings(named).approvals_url


def _settings(named: NamedFile | None) -> GatewaySettings:
    if named:
        return load_agreed(named.file, named.project).settings
    if found := found_file(None):
        try:
            return load_found(found).settings
        except NotAgreedError:
            return GatewaySettings()
    file = find(None, os.environ, user_config_path())
    return load(file).settings if file else GatewaySettings()
