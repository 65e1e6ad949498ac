"""Detects what is in a base directory: our files in `.ui-mcp/` or an older place, and those of other products."""

import re
import tomllib
from collections.abc import Collection
from enum import Enum, auto
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import unquote

from ui_mcp.errors import ConfigError
from ui_mcp.files import try_lock
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.version import version_in
from ui_mcp.workspace import BUNDLE, MOVING, Workspace

OWN_TITLE = "ui-mcp"
OWN_MARK = "uiEarly"
"""Part of our page that no other has."""
_TITLE = re.compile(r"^# +(.+?) *$", re.MULTILINE)


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
        try_lock(file, shared=shared)
    except OSError:
        return False
    return True


def is_foreign_page(html: str) -> bool:
    """Return whether this is the page of another engine: it has a place for apps, but not our script."""
    return "ui-app" in html and OWN_MARK not in html


def page_html(workspace: Workspace) -> str | None:
    """Return the project's page, or ours if there is none or it belongs to another engine; None if ours is missing."""
    own = _read(workspace.html / "index.html", workspace)
    if own is not None and not is_foreign_page(own):
        return own
    bundled = BUNDLE / "base" / "html" / "index.html"
    return bundled.read_text(encoding="utf-8") if bundled.is_file() else None


def foreign_product(workspace: Workspace) -> str | None:
    """Return name and version of the product that made this project, or None if it was this one or none."""
    readme = _read(workspace.readme, workspace) or ""
    title = next(iter(_TITLE.findall(readme)), OWN_TITLE)
    page = _read(workspace.html / "index.html", workspace)
    if title == OWN_TITLE and not (page is not None and is_foreign_page(page)):
        return None
    name = "an earlier ui-mcp or ui-engine" if title == OWN_TITLE else title
    version = version_in(workspace.readme)
    return f"{name} {version}" if version else name


def _read(file: Path, workspace: Workspace) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace") if workspace.contains(file) else None
    except OSError:
        return None
