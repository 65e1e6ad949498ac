"""The settings of Lua workers and of the journal, from a server's configuration."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from platformdirs import user_config_path, user_data_path

from ui_mcp.account_seal import key_file
from ui_mcp.config import Config
from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
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
MIN_KEY = 16
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
    """Return the files that settings name: the gateway's configuration, the group's key and the chat store."""
    named = (config.gateway.config, config.session.group_key_file)
    files = [str(workspace.named(name)) for name in named if name]
    url = config.storage.url or ""
    stores = [f"{Path(unquote(url.removeprefix(SQLITE))).resolve()}*"] if url.startswith(SQLITE) else []
    return (*files, *stores)


def state_database(workspace: Workspace, config: Config) -> StateDatabase | None:
    """Return where the state of apps is saved; None: nowhere.

    Raises:
        ConfigError: the settings of a group of servers do not fit, or its key cannot be read.
    """
    session, url = config.session, config.storage.url or ""
    if session.group_key_file and not (url.startswith(POSTGRES) and session.root == "new" and session.journal != "off"):
        raise ConfigError(
            'session.group_key_file needs storage.url = "postgresql://…", session.root = "new" and a journal\n'
            "The person's agreement to storage.url may be missing: ui-mcp trust."
        )
    if session.journal == "off":
        return None
    place = url if url.startswith(POSTGRES) else str(workspace.state_dir / STATE_FILE)
    key = _group_key(workspace, session.group_key_file) if session.group_key_file else ""
    return StateDatabase(
        JournalSettings(
            place,
            durable=session.journal == "full",
            interval=session.journal_ms / 1000,
            key=key,
            history=int(session.history_mb * 1_000_000),
            lease_seconds=session.lease_seconds if key else 0.0,
        )
    )


def _group_key(workspace: Workspace, name: str) -> str:
    file = workspace.named(name)
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ConfigError(f"session.group_key_file: {file} cannot be read: {error}") from error
    if len(key) < MIN_KEY:
        raise ConfigError(f"session.group_key_file: the key in {file} has fewer than {MIN_KEY} characters")
    return key
