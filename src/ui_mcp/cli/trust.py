"""Agree to project settings that widen rights.

Settings in config/config.toml that let apps, agents or the network do more than usual have no effect until you agree to
them here, and again after every change. The same applies to the file named by gateway.config and to an nlui.yaml of the
project. Agreements are stored in your own configuration directory.

Examples:
  ui-mcp trust                          show what this project asks for, and decide
  ui-mcp trust --revoke                 withdraw what you agreed to
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.trust import run_trust
else:
    run_trust = lazy("ui_mcp.app.commands.trust:run_trust")

HELP = "agree to project settings that widen rights"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("--yes", action="store_true", help="agree without being asked; still needs a terminal")
    parser.add_argument("--revoke", action="store_true", help="withdraw an earlier agreement")


def run(options: argparse.Namespace) -> int:
    return run_trust(options.dir, yes=options.yes, revoke=options.revoke)
