"""Where the questions of a project's agent are kept: in the store of the gateway it uses."""

import os
from pathlib import Path

from platformdirs import user_config_path, user_data_path

from ui_mcp.errors import UiMcpError
from ui_mcp.host.host import Host
from ui_mcp.log import logger

_log = logger("approvals")


def approvals_place(host: Host) -> str | None:
    """Return the store of `gateway.config`, or of the nlui.yaml that `ui-mcp agent` finds here."""
    from ui_mcp.compositor import nlui_yaml

    try:
        configured = host.configured()
        given = configured.config.gateway.config
        named = str(configured.workspace.named(given)) if given else None
        file = nlui_yaml.find(named, os.environ, user_config_path())
        settings = nlui_yaml.load(file).settings if file else None
    except UiMcpError as error:
        _log.warning("Cannot find the approvals: %s", error.message)
        return None
    if settings is None:
        return str(user_data_path("nlui") / "approvals.db")
    data = Path(settings.data_dir).expanduser() if settings.data_dir else user_data_path("nlui")
    return settings.storage.url or str(data / "approvals.db")
