"""Run the UI and the MCP server on fixed ports, for development and for clients that connect over HTTP.

MCP clients connect to http://127.0.0.1:8001/mcp (streamable HTTP) or http://127.0.0.1:8001/sse (SSE).

Examples:
  ui-mcp serve                          UI on port 8000, MCP on port 8001, your own page on port 8002
  ui-mcp serve --port 0 --mcp-port 0    on free ports, which it prints
  ui-mcp serve --dir .ui -v             another base directory; calls and connections are logged
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy

if TYPE_CHECKING:
    from ui_mcp.app.ui_server import run_serve
else:
    run_serve = lazy("ui_mcp.app.ui_server:run_serve")

HELP = "run UI and MCP servers on fixed ports"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.server(parser)
    parser.add_argument(
        "--port", type=shared.port, metavar="P", help="UI port (env UI_PORT; default 8000; 0 = any free port)"
    )
    parser.add_argument(
        "--mcp-port", type=shared.port, metavar="M", help="MCP port (env UI_MCP_PORT; default 8001; 0 = any free port)"
    )
    parser.add_argument(
        "--person-port",
        type=shared.port,
        metavar="Q",
        help="port of your own page (env UI_PERSON_PORT; default 8002, or a free port)",
    )


def run(options: argparse.Namespace) -> int:
    return run_serve(options.dir, shared.flags_of(options), tuple(options.allow_dir))
