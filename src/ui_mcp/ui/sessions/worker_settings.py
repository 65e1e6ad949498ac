"""The settings of Lua workers and of the journal, from a server's configuration."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from platformdirs import user_config_path, user_data_path

from ui_mcp.account_seal import key_file
from ui_mcp.config import Config
from ui_mcp.discovery import lazy
from ui_mcp.lua_runtime.fork_server import stop
from ui_mcp.lua_runtime.interface import WorkerConfig, WorkerHost
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.lua_runtime.worker_process import ProcessWorkerHost
from ui_mcp.person import state_folder
from ui_mcp.ui.state.database import JournalSettings, StateDatabase
from ui_mcp.workspace import BUNDLE, STATE_FILE, Workspace

# It imports Lua into the server.
if TYPE_CHECKING:
    from ui_mcp.lua_runtime.worker_thread import ThreadWorkerHost
else:
    ThreadWorkerHost = lazy("ui_mcp.lua_runtime.worker_thread:ThreadWorkerHost")

SQLITE = "sqlite:///"
POSTGRES = ("postgresql:", "postgres:")
BUNDLED_LUA = BUNDLE / "base" / "lua"


def worker_host(config: Config) -> WorkerHost:
    if config.lua.host == "process":
        return ProcessWorkerHost()
    stop()
    return ThreadWorkerHost()


def worker_config(workspace: Workspace, config: Config, secret: str, protected: tuple[str, ...] = ()) -> WorkerConfig:
    """Return the settings of a worker; `protected` adds to the paths that app code may never use."""
    return WorkerConfig(
        base_dir=str(workspace.base),
        project=str(workspace.project),
        session_id=secret,
        bundle_lua=str(BUNDLED_LUA),
        max_seconds=config.lua.max_seconds,
        max_memory_mb=config.lua.max_memory_mb,
        verbosity=config.logging.verbosity,
        log=str(workspace.log),
        permissions=asdict(config.lua.permissions),
        protected=(*_account_paths(), *_configured_paths(workspace, config), *protected),
    )


def permissions_of(workspace: Workspace, config: Config, protected: tuple[str, ...] = ()) -> Permissions:
    """Return the permissions of app code, for files that the server reads on its behalf."""
    return Permissions(worker_config(workspace, config, "", protected).settings())


def _account_paths() -> tuple[str, ...]:
    folders = (
        state_folder(),
        key_file().parent,
        *(user_config_path(name, appauthor=False) for name in ("ui-mcp", "nlui")),
    )
    return tuple(str(folder) for folder in (*folders, user_data_path("nlui", appauthor=False)))


def _configured_paths(workspace: Workspace, config: Config) -> tuple[str, ...]:
    """Return the files that settings name: the gateway's configuration and the chat store."""
    gateway = [str(workspace.named(config.gateway.config))] if config.gateway.config else []
    url = config.storage.url or ""
    stores = [f"{Path(unquote(url.removeprefix(SQLITE))).resolve()}*"] if url.startswith(SQLITE) else []
    return (*gateway, *stores)


def state_database(workspace: Workspace, config: Config) -> StateDatabase | None:
    if config.session.journal == "off":
        return None
    url = config.storage.url or ""
    place = url if url.startswith(POSTGRES) else str(workspace.state_dir / STATE_FILE)
    session = config.session
    durable, interval = session.journal == "full", session.journal_ms / 1000
    return StateDatabase(JournalSettings(place, durable, interval, history=int(session.history_mb * 1_000_000)))
