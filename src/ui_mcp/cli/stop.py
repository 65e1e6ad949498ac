"""End the server that the clients of a directory share, with its sessions; their next call starts another one.

It ends by itself a few seconds after its last client and its last page are gone.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.app.commands.join import stop_server
else:
    stop_server = lazy("ui_mcp.app.commands.join:stop_server")

HELP = "end the server of a directory"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)


def run(options: argparse.Namespace) -> int:
    pid = stop_server(Workspace.at(options.dir))
    sys.stdout.write(f"Ended ui-mcp (pid {pid})\n" if pid else f"No server is running for {options.dir}\n")
    return 0
