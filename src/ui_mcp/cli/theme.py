"""List themes and their classes, or check an app against them.

Prints the same JSON as the tool ui_theme; on a terminal, `list` prints a table.

ui-mcp theme list                    list every theme
ui-mcp theme classes [THEME]         list the classes that a theme documents
ui-mcp theme audit APP [THEME]       list the classes of an app that no theme defines
"""

import argparse
import sys
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.terminal_style import style_of
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.ui.themes import audit_classes, list_classes, list_themes
else:
    audit_classes = lazy("ui_mcp.ui.themes:audit_classes")
    list_classes = lazy("ui_mcp.ui.themes:list_classes")
    list_themes = lazy("ui_mcp.ui.themes:list_themes")

HELP = "list themes and their classes, or check an app against them"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="list every theme")
    classes = actions.add_parser("classes", help="list the classes that a theme documents")
    audit = actions.add_parser("audit", help="check an app against the themes")
    audit.add_argument("app", metavar="APP", help="the app's directory in apps/")
    for action in (classes, audit):
        action.add_argument("theme", nargs="?", default="", metavar="THEME", help="one theme (default: all)")
    for action in (listed, classes, audit):
        shared.directory(action)


def run(options: argparse.Namespace) -> int:
    workspace = Workspace.at(options.dir)
    match options.action:
        case "list":
            found = list_themes(workspace)
            if sys.stdout.isatty():
                print(table(found))
                return 0
        case "classes":
            found = list_classes(workspace, options.theme)
        case _:
            found = audit_classes(workspace, options.app, options.theme)
    print(dumps(found))
    return 0


def table(found: JsonObject) -> str:
    """Return one line for each theme, the current one marked."""
    style, themes = style_of(), found["themes"]
    width = max((len(theme["name"]) for theme in themes), default=0)
    return "\n".join(
        f"{'*' if theme['name'] == found['current'] else ' '} "
        f"{style.paint(theme['name'].ljust(width), 'bold')}  {theme['description']}"
        for theme in themes
    )
