"""Make an app to start from: a small working list with its page, texts and a scenario for ui_test.

  ui-mcp new week-plan                 apps/week-plan in the base directory
  ui-mcp new week-plan --title "Week"  with a title of your own

A name has small letters and digits with single hyphens. An app that is there already is never touched.
"""

import argparse

from ui_mcp.cli import options as shared
from ui_mcp.workspace import Workspace

HELP = "make an app to start from"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take the name of the app."""
    parser.add_argument("app", metavar="APP", help="its name, for example week-plan")
    parser.add_argument("--title", metavar="TEXT", help="its title (default: the name in words)")
    shared.directory(parser)


def run(options: argparse.Namespace) -> int:
    """Write the app and say what comes next."""
    from ui_mcp.app.scaffold import scaffold

    workspace = Workspace.at(options.dir)
    made = scaffold(workspace, options.app, options.title)
    print("Made:", *(file.relative_to(workspace.project).as_posix() for file in made), sep="\n  ")
    print(f"\nSee it: ask your agent to show {options.app}, or run `ui-mcp serve` and choose it on the start page.")
    print("Change a file while it is shown and watch the page.")
    return 0
