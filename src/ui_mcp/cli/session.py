"""Save a session in a file, or continue one from a file.

The file holds the state of session 1 and the code of all apps: to move a session to another machine, to report a fault,
or for tests (`ui_mcp.testing.project.open_session_file`). Export works while a server runs and after it was killed. An
imported session is continued by the next server of the directory.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.commands.session import run_action
else:
    run_action = lazy("ui_mcp.app.commands.session:run_action")

HELP = "export a session with its apps to a file, or import one"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("action", choices=("export", "import"))
    parser.add_argument("file", help="the file, such as bug.uisession")


def run(options: argparse.Namespace) -> int:
    return run_action(options)
