"""Where the questions of a project's agent are kept: in the store of the gateway it uses."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_config_path, user_data_path

from ui_mcp.errors import UiMcpError
from ui_mcp.log import logger
from ui_mcp.ui.server import Host

if TYPE_CHECKING:
    from ui_mcp.gateway.config.settings import GatewaySettings

_log = logger("approvals")


def own_approvals(host: Host) -> str | None:
    """Return the store of `gateway.config`, the one that app pages and MCP clients of this server may read."""
    return approvals_place(host) if _named(host) else None


def approvals_place(host: Host) -> str | None:
    """Return the store of `gateway.config`, or of the nlui.yaml that `ui-mcp agent` finds here: for the person only."""
    try:
        settings = _settings(host)
    except UiMcpError as error:
        _log.warning("Cannot find the approvals: %s", error.message)
        return None
    if settings is None:
        return str(user_data_path("nlui") / "approvals.db")
    data = Path(settings.data_dir).expanduser() if settings.data_dir else user_data_path("nlui")
    return settings.storage.url or str(data / "approvals.db")


def _settings(host: Host) -> "GatewaySettings | None":
    """Return the settings that the gateway runs with; None when it runs with the defaults."""
    from ui_mcp.gateway.config import loader
    from ui_mcp.gateway.config.agreement import NotAgreedError, found_file, load_agreed, load_found

    if named := _named(host):
        return load_agreed(named, host.configured().workspace.project).settings
    if found := found_file(None):
        try:
            return load_found(found).settings
        except NotAgreedError:
            return None
    file = loader.find(None, os.environ, user_config_path())
    return loader.load(file).settings if file else None


def _named(host: Host) -> Path | None:
    try:
        configured = host.configured()
    except UiMcpError:
        return None
    given = configured.config.gateway.config
    return configured.workspace.named(given) if given else None
