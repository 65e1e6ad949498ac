"""What `ui_theme` answers: the list, the documented classes, and how an app uses them."""

import re
from collections.abc import Iterator
from pathlib import Path

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.themes.shelf import chosen_theme, themes_of
from ui_mcp.themes.theme import StyleClass, Theme
from ui_mcp.workspace import Workspace

CLASSES = re.compile(r"""\bclass\s*=\s*(?:"([^"]*)"|'([^']*)')|\bui-class-([\w-]+)\s*=""")
IGNORED = re.compile(r"^(hidden$|showing$|sl-|ui-)")
ALL = "(all)"


def list_themes(workspace: Workspace) -> JsonObject:
    """List the themes and name the chosen one."""
    themes = [
        {
            "name": theme.name,
            "description": theme.description,
            **({"accent_color": theme.accent} if theme.accent else {}),
        }
        for theme in themes_of(workspace)
    ]
    return {"themes": themes, "current": chosen_theme(workspace) or "auto"}


def list_classes(workspace: Workspace, name: str) -> JsonObject:
    """List the documented classes of one theme, or of all."""
    return {
        "theme": name or ALL,
        "classes": [found.as_json() for found in _documented(_picked(workspace, name)).values()],
    }


def audit_classes(workspace: Workspace, app: str, name: str) -> JsonObject:
    """Compare the classes an app uses with the documented ones."""
    folder = workspace.apps / app
    if Path(app).name != app or app in {"", ".", ".."} or not folder.is_dir():
        raise NotFoundError(f"app {app} not found")
    documented = _documented(_picked(workspace, name))
    used = [place for file in sorted(folder.rglob("*.html")) for place in _used_in(file, folder)]
    names = {place["class"] for place in used}
    undocumented = [place for place in used if place["class"] not in documented]
    return {
        "app": app,
        "theme": name or ALL,
        "undocumented_classes": undocumented,
        "unused_theme_classes": sorted(documented.keys() - names),
        "summary": {
            "total": len(names),
            "documented": len(names & documented.keys()),
            "undocumented": len(names - documented.keys()),
        },
    }


def _picked(workspace: Workspace, name: str) -> list[Theme]:
    themes = themes_of(workspace)
    if not name:
        return themes
    found = [theme for theme in themes if theme.name == name]
    if not found:
        raise NotFoundError(f"No theme named {name!r}; there are: {', '.join(theme.name for theme in themes)}")
    return found


def _documented(themes: list[Theme]) -> dict[str, StyleClass]:
    return {found.name: found for theme in themes for found in theme.classes}


def _used_in(file: Path, folder: Path) -> Iterator[JsonObject]:
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        names = [name for found in CLASSES.findall(line) for name in "".join(found).split()]
        for name in names:
            if not IGNORED.match(name):
                yield {"class": name, "file": str(file.relative_to(folder)), "line": number}
