"""Where the gateway of a project keeps approvals, and which of its files app code must not touch."""

import os
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path

from ui_mcp.config import Config
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config.agreement import NotAgreedError, found_file, load_agreed, load_found
from ui_mcp.gateway.config.loader import find, load
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class NamedFile:
    """The nlui.yaml that `gateway.config` of a project names."""

    file: Path
    project: Path


def named_file(workspace: Workspace, config: Config) -> NamedFile | None:
    """Return the file that `gateway.config` names."""
    given = config.gateway.config
    return NamedFile(workspace.named(given), workspace.project) if given else None


def approvals_url(named: NamedFile | None) -> str:
    """Return the approvals store of a gateway: of the file that `gateway.config` names, else of the one found here.

    Raises:
        ConfigError: the file is wrong, or the person has not agreed to the named one.
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


def gateway_places(workspace: Workspace, config: Config) -> tuple[str, ...]:
    """Return the nlui.yaml files a gateway could use here, and the data directory each of them names."""
    named = [workspace.named(config.gateway.config)] if config.gateway.config else []
    usual = (os.environ.get("NLUI_CONFIG"), workspace.project / "nlui.yaml", "nlui.yaml")
    files = [*named, *(Path(file).expanduser() for file in usual if file), user_config_path() / "nlui" / "nlui.yaml"]
    present = [file.resolve() for file in files if file.is_file()]
    places = dict.fromkeys(place for file in present for place in (str(file), *_stores(file)))
    # A data directory around the project would close the project itself; its files are kept by their names.
    return tuple(place for place in places if not workspace.base.is_relative_to(place))


def _stores(file: Path) -> list[str]:
    """Return where a file says that data lasts; it is read without its secrets, and a broken one names nothing."""
    from ui_mcp.gateway.config.parse import parse  # YAML takes a while to import, and few projects have such a file

    try:
        tree = parse(file.read_bytes())
    except (UiMcpError, OSError, ValueError, RecursionError):
        return []
    settings = tree if isinstance(tree, dict) else {}
    storage = settings.get("storage")
    url = str(storage.get("url") or "") if isinstance(storage, dict) else ""
    path = url.removeprefix("sqlite:///")
    return [
        *([_absolute(str(settings["data_dir"]))] if settings.get("data_dir") else []),
        *([f"{_absolute(path)}*"] if path and "://" not in path else []),
    ]


def _absolute(path: str) -> str:
    return str(Path(os.path.expandvars(path)).expanduser().resolve())
