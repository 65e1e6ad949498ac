"""The chat's parts of the configuration, in the chat's own words."""

from ui_mcp.chat.limits import Limits
from ui_mcp.chat.stores import default_url
from ui_mcp.config import Config
from ui_mcp.workspace import Workspace


def limits_of(config: Config) -> Limits:
    """Return the limits of `[chat]`."""
    chat = config.chat
    return Limits(content_bytes=chat.max_content, mimes=chat.mimes, window=chat.window)


def store_url(config: Config, workspace: Workspace) -> str:
    """Return where this workspace keeps its chat."""
    return config.storage.url or default_url(workspace.state_dir)
