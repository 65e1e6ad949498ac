"""Recognises what another product left in a project: the page of ui-engine, the files of frictionless."""

import re
from pathlib import Path

from ui_mcp.version import version_in
from ui_mcp.workspace import BUNDLE, Workspace

OWN_TITLE = "ui-mcp"
OWN_MARK = "uiEarly"
"""Part of our page that no other has."""
_TITLE = re.compile(r"^# +(.+?) *$", re.MULTILINE)


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
        inside = file.resolve().is_relative_to(workspace.project)
        return file.read_text(encoding="utf-8", errors="replace") if inside else None
    except OSError:
        return None
