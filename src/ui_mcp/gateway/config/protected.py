"""The gateway files that app code must neither read nor write; imports no settings, to stay cheap."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_config_path

from ui_mcp.config import Config
from ui_mcp.discovery import lazy
from ui_mcp.errors import UiMcpError
from ui_mcp.workspace import Workspace

# Importing YAML is slow, and few projects have such a file.
if TYPE_CHECKING:
    from ui_mcp.gateway.config.parse import parse
else:
    parse = lazy("ui_mcp.gateway.config.parse:parse")


def gateway_places(workspace: Workspace, config: Config) -> tuple[str, ...]:
    """Return the nlui.yaml files that a gateway could use here, and the data directories that they name."""
    named = [workspace.named(config.gateway.config)] if config.gateway.config else []
    usual = (os.environ.get("NLUI_CONFIG"), workspace.project / "nlui.yaml", "nlui.yaml")
    files = [*named, *(Path(file).expanduser() for file in usual if file), user_config_path() / "nlui" / "nlui.yaml"]
    present = [file.resolve() for file in files if file.is_file()]
    places = dict.fromkeys(place for file in present for place in (str(file), *_stores(file)))
    # A data directory that contains the project would block the project itself; its files are protected by name.
    return tuple(place for place in places if not workspace.base.is_relative_to(place))


def _stores(file: Path) -> list[str]:
    """Return the data paths that a file names, without resolving its secrets; none if it is invalid."""
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
