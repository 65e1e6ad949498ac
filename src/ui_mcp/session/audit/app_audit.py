"""Reads the files of one app and applies the rules."""

from pathlib import Path

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.session.audit.template import Template
from ui_mcp.ui import audit as rules
from ui_mcp.ui.audit import App
from ui_mcp.ui.audit_sources import LuaSource

REMINDERS = (
    "Look at the app in the browser: an audit reads files, it sees no pixels.",
    "Compare app and viewdefs with design.md and requirements.md, if there are any.",
)


def audit(apps: Path, name: str) -> JsonObject:
    """Return what is wrong with the app in `apps/NAME`.

    Raises:
        NotFoundError: there is no such directory.
    """
    folder = apps / name
    if name in {"", ".", ".."} or any(sign in name for sign in "/\\\0") or not folder.is_dir():
        raise NotFoundError(f"app {name} not found", name=name)
    return report(read_app(folder))


def read_app(folder: Path) -> App:
    """Read the Lua files and viewdefs of an app."""
    lua = {
        file.relative_to(folder).as_posix(): LuaSource(file.read_text(encoding="utf-8", errors="replace"))
        for file in sorted(folder.rglob("*.lua"))
    }
    viewdefs = {
        file.name: Template(file.read_text(encoding="utf-8", errors="replace"))
        for file in sorted((folder / "viewdefs").rglob("*.html"))
    }
    return App(folder.name, lua, viewdefs)


def report(app: App) -> JsonObject:
    """Apply every rule and count."""
    lua, viewdefs = sorted(rules.lua_violations(app)), sorted(rules.viewdef_violations(app))
    return {
        "app": app.name,
        "violations": [finding.as_json() for finding in (*lua, *viewdefs)],
        "warnings": [finding.as_json() for finding in sorted(rules.warnings(app))],
        "reminders": list(REMINDERS),
        "summary": {
            "total_methods": len(app.methods),
            "dead_methods": sum(finding.rule == "dead_method" for finding in lua),
            "viewdef_violations": len(viewdefs),
        },
    }
