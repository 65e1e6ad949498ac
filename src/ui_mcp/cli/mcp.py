"""Serve MCP over stdin and stdout, for hosts that start their servers themselves.

stdout carries JSON-RPC only; logs go to stderr and to log/mcp.log in the base directory.
The UI is served on free ports once the agent calls ui_start.

Examples:
  claude mcp add ui -- ui-mcp mcp       register it with Claude Code; `ui-mcp setup` does this for every host
  ui-mcp mcp --dir .ui                  another base directory
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.ui_stdio import run_stdio
else:
    run_stdio = lazy("ui_mcp.app.ui_stdio:run_stdio")

HELP = "serve an agent over stdin and stdout"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.server(parser)


def run(options: argparse.Namespace) -> int:
    return run_stdio(options.dir, shared.flags_of(options), *options.stdio, directories=tuple(options.allow_dir))
