"""Detects the layout of a base directory: ui-mcp's files in `.ui-mcp/`, or in `storage/` of an older version."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import unquote

from ui_mcp.errors import ConfigError
from ui_mcp.ui import instance
from ui_mcp.workspace import MOVING, Workspace


class Action(Enum):
    """What has to be done before ui-mcp's own files can be used."""

    NOTHING = auto()
    CREATE = auto()
    MOVE = auto()


@dataclass(frozen=True, slots=True)
class Facts:
    """State of a base directory."""

    own: Literal["absent", "unfinished", "ready"]
    left: Collection[str]
    """Files of ui-mcp that are still in `storage/`."""


def decide(facts: Facts) -> Action:
    """Return what has to be done; pure."""
    match facts.own:
        case "ready":
            return Action.NOTHING
        case "unfinished":
            return Action.MOVE
        case "absent":
            return Action.MOVE if facts.left else Action.CREATE


def look(workspace: Workspace) -> Facts:
    """Read the state of a base directory, without changing it."""
    if not workspace.own.is_dir():
        return Facts("absent", workspace.left_in_storage())
    unfinished = (workspace.own / MOVING).exists()
    return Facts("unfinished" if unfinished else "ready", workspace.left_in_storage())


def named_store(workspace: Workspace) -> Path | None:
    """Return the SQLite file that the settings name, trusted or not; it is never moved.

    Raises:
        ConfigError: the settings cannot be read.
    """
    try:
        storage = tomllib.loads(workspace.config_file.read_text(encoding="utf-8")).get("storage")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{workspace.config_file} cannot be read: {error}") from error
    url = str(storage.get("url")) if isinstance(storage, dict) else ""
    return Path(unquote(url.removeprefix("sqlite:///"))).resolve() if url.startswith("sqlite:///") else None


def locked(file: BinaryIO, *, shared: bool = False) -> bool:
    """Try to lock a file, and return whether that worked."""
    try:
        instance.try_lock(file, shared=shared)
    except OSError:
        return False
    return True
