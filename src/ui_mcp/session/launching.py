"""What a Lua world is started with, from the settings."""

from pathlib import Path

from ui_mcp.config import Config
from ui_mcp.lua.child_host import ChildHost
from ui_mcp.lua.host import Host, Launch
from ui_mcp.lua.nursery_process import dismiss
from ui_mcp.workspace import Workspace

BUNDLED_LUA = Path(__file__).parents[1] / "bundle" / "base" / "lua"


def lua_host(config: Config) -> Host:
    """Return the host the settings ask for."""
    if config.lua.host == "process":
        return ChildHost()
    from ui_mcp.lua.thread_host import ThreadHost  # Lua itself, which the server needs for nothing else

    dismiss()
    return ThreadHost()


def launch_of(workspace: Workspace, config: Config, secret: str) -> Launch:
    """Describe a world of this workspace."""
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
    )
