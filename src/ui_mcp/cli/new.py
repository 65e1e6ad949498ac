"""Create an app to start from: a small working list with its page, texts and a scenario for ui_test.

  ui-mcp new week-plan                 apps/week-plan in the base directory
  ui-mcp new week-plan --title "Week"  with a title of your own

A name consists of lower-case letters and digits with single hyphens. An existing app is never changed.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.new import run_new
else:
    run_new = lazy("ui_mcp.app.commands.new:run_new")

HELP = "create an app to start from"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("app", metavar="APP", help="its name, for example week-plan")
    parser.add_argument("--title", metavar="TEXT", help="its title (default: the name in words)")
    shared.directory(parser)


def run(options: argparse.Namespace) -> int:
    return run_new(options)
