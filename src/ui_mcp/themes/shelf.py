"""The themes of a project: its own files first, then the bundled ones."""

import json
from pathlib import Path

from ui_mcp.themes.theme import Theme, read_theme
from ui_mcp.workspace import BUNDLE, Workspace

BUNDLED = BUNDLE / "base" / "html" / "themes"
BASE = "base.css"


def theme_files(workspace: Workspace) -> dict[str, Path]:
    """Return file name → path of every style sheet, `base.css` included."""
    folders = (BUNDLED, workspace.html / "themes")
    return {path.name: path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.css"))}


def themes_of(workspace: Workspace) -> list[Theme]:
    """Return every theme, by name."""
    files = theme_files(workspace)
    return sorted((read_theme(path) for name, path in files.items() if name != BASE), key=lambda theme: theme.name)


def chosen_theme(workspace: Workspace) -> str:
    """Return the theme named in `storage/settings.json`, or nothing."""
    try:
        settings = json.loads((workspace.storage / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    found = settings.get("theme") if isinstance(settings, dict) else None
    return found if isinstance(found, str) else ""
