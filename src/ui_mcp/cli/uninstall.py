"""Remove what ui-mcp has written into a project, and leave everything that is yours.

It deletes files that are still as they were installed, logs, ports and saved state. Apps, settings, themes, what apps
have stored and every file that you changed stay. `ui-mcp setup --remove` takes the server out of your hosts' settings.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.uninstall import run_uninstall
else:
    run_uninstall = lazy("ui_mcp.app.commands.uninstall:run_uninstall")

HELP = "remove what was installed into a project; your files stay"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("--dry-run", action="store_true", help="only show what would be removed")
    parser.add_argument("--keep-state", action="store_true", help="keep .ui-mcp: the chat and the state of apps")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def run(options: argparse.Namespace) -> int:
    return run_uninstall(options)
