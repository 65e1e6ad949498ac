"""Create a starter app: a small working list with its page, texts and a scenario for ui_test.

  ui-mcp new week-plan                    apps/week-plan in the base directory
  ui-mcp new week-plan --title "Week"     with a title of your own
  ui-mcp new sales --template dashboard   from another template: table, dashboard, wizard, board, chat or logs

A name consists of lower-case letters and digits with single hyphens. An existing app is never changed.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.ui.console.scaffold import scaffold
else:
    scaffold = lazy("ui_mcp.ui.console.scaffold:scaffold")

HELP = "create a starter app"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("app", metavar="APP", help="its name, for example week-plan")
    parser.add_argument("--title", metavar="TEXT", help="its title (default: the name in words)")
    parser.add_argument(
        "--template",
        metavar="NAME",
        default="list",
        help="what to start from: list, table, dashboard, wizard, board, chat or logs (default: list)",
    )
    shared.directory(parser)


def run(options: argparse.Namespace) -> int:
    workspace = Workspace.at(options.dir)
    made = scaffold(workspace, options.app, options.title, options.template)
    print("Created:", *(workspace.name_of(file) for file in made), sep="\n  ")
    print(f"\nTo see it, ask your agent to show {options.app}, or run `ui-mcp serve` and choose it on the start page.")
    print("Edit a file while it is shown and watch the page change.")
    return 0
