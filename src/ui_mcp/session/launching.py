"""What a Lua world is started with, from the settings."""

from pathlib import Path
from urllib.parse import unquote

from platformdirs import user_config_path, user_data_path

from ui_mcp.account_seal import key_file
from ui_mcp.config import Config
from ui_mcp.lua_runtime.fork_server import dismiss
from ui_mcp.lua_runtime.interface import Host, Launch
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.lua_runtime.worker_process import ChildHost
from ui_mcp.person import state_folder
from ui_mcp.workspace import BUNDLE, Workspace

SQLITE = "sqlite:///"
BUNDLED_LUA = BUNDLE / "base" / "lua"


def lua_host(config: Config) -> Host:
    """Return the host the settings ask for."""
    if config.lua.host == "process":
        return ChildHost()
    from ui_mcp.lua_runtime.worker_thread import ThreadHost  # Lua itself, which the server needs for nothing else

    dismiss()
    return ThreadHost()


def launch_of(workspace: Workspace, config: Config, secret: str, protected: tuple[str, ...] = ()) -> Launch:
    """Describe a world of this workspace; `protected` is kept from app code besides what always is."""
    return Launch(
        base_dir=str(workspace.base),
        project=str(workspace.project),
        session_id=secret,
        bundle_lua=str(BUNDLED_LUA),
        max_seconds=config.lua.max_seconds,
        max_memory_mb=config.lua.max_memory_mb,
        verbosity=config.logging.verbosity,
        log=str(workspace.log),
        permissions=config.lua.permissions.model_dump(),
        protected=(*_of_the_account(), *_named(workspace, config), *protected),
    )


def permissions_of(workspace: Workspace, config: Config, protected: tuple[str, ...] = ()) -> Permissions:
    """Return what app code of this workspace may touch, for files that the server reads on its behalf."""
    return Permissions(launch_of(workspace, config, "", protected).settings())


def _of_the_account() -> tuple[str, ...]:
    folders = (
        state_folder(),
        key_file().parent,
        *(user_config_path(name, appauthor=False) for name in ("ui-mcp", "nlui")),
    )
    return tuple(str(folder) for folder in (*folders, user_data_path("nlui", appauthor=False)))


def _named(workspace: Workspace, config: Config) -> tuple[str, ...]:
    """Return the files that settings name: the gateway's configuration and the chat store."""
    gateway = [str(workspace.named(config.gateway.config))] if config.gateway.config else []
    url = config.storage.url or ""
    stores = [f"{Path(unquote(url.removeprefix(SQLITE))).resolve()}*"] if url.startswith(SQLITE) else []
    return (*gateway, *stores)
